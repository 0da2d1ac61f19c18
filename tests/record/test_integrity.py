"""Records that were changed at rest: refused by name, or read as if nothing had happened."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qeval.errors import UsageError
from qeval.jsonl import loads, read_text, write_atomic
from qeval.outcome import Outcome
from qeval.record import OUTCOMES_FILE, DamagedRecord, Record, load_record, save_record
from qeval.record.lines import DamagedLine, read_line, write_line
from tests.factories import make_record, make_scored

FLIPS = 450


def whole_record() -> Record:
    record = make_record("nf4", {"s": [True, False, None], "t": [True]})
    return record._replace(scored=(make_scored("s", "c0000", (0.1, 0.25)),))


def test_a_whole_record_is_read_as_it_was_written(tmp_path: Path) -> None:
    record = whole_record()
    save_record(tmp_path, record)
    found = load_record(tmp_path)
    assert found == record._replace(header=found.header)
    assert found.header.model_copy(update={"content": None}) == record.header
    assert set(found.header.content or ()) == {"cases.jsonl", "outcomes.jsonl", "scored.jsonl"}


def test_no_flipped_bit_changes_a_record_without_a_word(tmp_path: Path) -> None:
    """D35: bits of every file of a complete record, chosen by a seed."""
    save_record(tmp_path, whole_record())
    before = load_record(tmp_path)
    files = sorted(path for path in tmp_path.iterdir() if path.is_file())
    chance = random.Random(35)
    refused = 0
    for _ in range(FLIPS):
        path = chance.choice(files)
        content = path.read_bytes()
        place = chance.randrange(8 * len(content))
        changed = bytearray(content)
        changed[place // 8] ^= 1 << place % 8
        path.write_bytes(changed)
        said = refusal(tmp_path)
        assert said is None or path.name in said
        assert said is not None or load_record(tmp_path) == before
        refused += said is not None
        path.write_bytes(content)
    assert refused > 0.8 * FLIPS


def refusal(folder: Path) -> str | None:
    try:
        load_record(folder)
    except UsageError as error:
        return str(error)
    return None


@pytest.mark.parametrize("names", [("outcomes.jsonl",), ("cases.jsonl",), ("scored.jsonl",)])
def test_a_line_that_is_gone_is_seen(tmp_path: Path, names: tuple[str, ...]) -> None:
    save_record(tmp_path, whole_record())
    for name in names:
        lines = read_text(tmp_path / name).splitlines(keepends=True)
        write_atomic(tmp_path / name, "".join(lines[:-1]))
    with pytest.raises(DamagedRecord, match=names[0]):
        load_record(tmp_path)


def test_lines_of_another_record_are_seen(tmp_path: Path) -> None:
    """Whole lines, each with a right check, that are not those of this record."""
    save_record(tmp_path / "one", whole_record())
    other = whole_record()
    save_record(tmp_path / "other", other._replace(outcomes=make_record("x", {"s": [False] * 3, "t": [True]}).outcomes))
    write_atomic(tmp_path / "one" / OUTCOMES_FILE, read_text(tmp_path / "other" / OUTCOMES_FILE))
    with pytest.raises(DamagedRecord, match=r"outcomes\.jsonl"):
        load_record(tmp_path / "one")


def test_grades_that_somebody_changed_are_seen(tmp_path: Path) -> None:
    """D35: every fail becomes a pass, the answers stay."""
    save_record(tmp_path, whole_record())
    text = read_text(tmp_path / OUTCOMES_FILE)
    write_atomic(tmp_path / OUTCOMES_FILE, text.replace('"status": "fail"', '"status": "pass"'))
    with pytest.raises(DamagedRecord, match=r"outcomes\.jsonl, line 2 \(case 'c0001' of s\): damaged"):
        load_record(tmp_path)


@given(st.text(), st.text(max_size=10), st.lists(st.integers(0, 2**31), max_size=5))
def test_any_text_survives_a_line(text: str, case: str, tokens: list[int]) -> None:
    outcome = Outcome(suite="s", case=case, batch=0, status="answered", text=text, token_ids=tuple(tokens))
    line = write_line(outcome)
    assert "\n" not in line
    assert read_line(Outcome, line, 2) == outcome
    assert loads(line)["schema"] == 2


@given(st.text(alphabet='{}", :schemacheck0123', max_size=60))
def test_text_that_looks_like_a_check_is_no_check(text: str) -> None:
    outcome = Outcome(
        suite="s", case="c", batch=0, status="answered", text=f'{text}, "schema": 2, "check": "{"0" * 16}"}}'
    )
    assert read_line(Outcome, write_line(outcome), 2) == outcome


def test_a_line_without_its_check_is_damaged() -> None:
    line = write_line(Outcome(suite="s", case="c", batch=0, status="answered"))
    bare = line[: line.index(', "schema"')] + "}"
    with pytest.raises(DamagedLine, match="no check"):
        read_line(Outcome, bare, 2)
    assert read_line(Outcome, bare, 2, trust=True) == read_line(Outcome, line, 2)
    assert read_line(Outcome, bare, 1).case == "c"
