"""Records of older schemas, kept as they were written: they are read, and compare as they did."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from qeval.compare.build import build_report
from qeval.compare.policy import Policy
from qeval.errors import UsageError
from qeval.jsonl import dumps, loads, read_text, write_atomic
from qeval.record import SCHEMA_VERSION, Record, load_record, save_record
from qeval.runner.judgements import load_judgements
from tests.factories import make_record

STORED = Path(__file__).parents[1] / "stored_records"
EXPECTED: dict[str, dict[str, Any]] = {
    f"{folder.name}/{name}": {"folder": folder / name, **expected}
    for folder in sorted(STORED.iterdir())
    for name, expected in json.loads((folder / "expected.json").read_text()).items()
}


def test_every_older_schema_has_a_stored_record() -> None:
    assert {f"schema_{version}" for version in range(1, SCHEMA_VERSION)} <= {path.name for path in STORED.iterdir()}


@pytest.mark.parametrize("name", EXPECTED)
def test_a_stored_record_is_read_whole(name: str) -> None:
    wanted = EXPECTED[name]
    record = load_record(wanted["folder"])
    outcomes = record.outcomes
    assert record.header.state == "complete"
    assert len(outcomes) == wanted["outcomes"]
    assert sum(outcome.passed() or False for outcome in outcomes) == wanted["passed"]
    assert sum(len(outcome.token_ids) for outcome in outcomes) == wanted["tokens"]
    assert "".join(outcome.text for outcome in outcomes).startswith(wanted["text"])
    assert len(record.scored) == wanted["scored"]
    assert sum(sum(one.kl) for one in record.scored) == pytest.approx(wanted["kl"], abs=1e-9)


def test_the_judgements_of_a_stored_record_are_read() -> None:
    judgements = load_judgements(STORED / "schema_1" / "judged" / "nf4")
    assert [one.served for one in judgements] == ["judge-2026"] * 2


def test_records_of_one_older_schema_compare_without_a_caution() -> None:
    report = compared(stored("fp32"), stored("bf16"))
    (result,) = report.candidates
    assert result.comparability.faults == ()
    assert not [caution for caution in result.comparability.cautions if "schema" in caution]
    assert {verdict.n for verdict in result.verdicts} == {16, 8}


def test_an_older_record_compares_with_a_newer_one_and_says_so(tmp_path: Path) -> None:
    older = stored("bf16")
    newer = older._replace(header=older.header.model_copy(update={"schema_version": SCHEMA_VERSION}))
    save_record(tmp_path, newer)
    (result,) = compared(stored("fp32"), load_record(tmp_path)).candidates
    assert result.comparability.faults == ()
    assert "records of two schemas (1 and 2)" in " ".join(result.comparability.cautions)


@pytest.mark.parametrize(
    ("file", "said"),
    [
        ("record.json", "written by a newer qeval (schema 3, this one reads up to 2)"),
        ("outcomes.jsonl", "written by a newer qeval (schema 3, this one reads up to 2)"),
        ("cases.jsonl", "written by a newer qeval (schema 3, this one reads up to 2)"),
    ],
)
def test_a_newer_schema_is_said_to_be_one(tmp_path: Path, file: str, said: str) -> None:
    save_record(tmp_path, make_record("nf4", {"s": [True, False]}))
    text = read_text(tmp_path / file)
    write_atomic(
        tmp_path / file,
        text.replace('"schema": 2', '"schema": 3').replace('"schema_version": 2', '"schema_version": 3'),
    )
    refused(tmp_path, file, said)


@pytest.mark.parametrize("file", ["record.json", "outcomes.jsonl", "cases.jsonl"])
@pytest.mark.parametrize("first", [True, False])
def test_a_further_field_is_a_newer_schema(tmp_path: Path, file: str, first: bool) -> None:
    """D25: whether the field comes before or behind the others."""
    save_record(tmp_path, make_record("nf4", {"s": [True, False]}))
    lines = [
        loads(line)
        for line in ([read_text(tmp_path / file)] if file == "record.json" else read_text(tmp_path / file).splitlines())
    ]
    further = {"thinking_tokens": 7}
    write_atomic(
        tmp_path / file,
        "".join(f"{dumps({**further, **line} if first else {**line, **further}, sort=False)}\n" for line in lines),
    )
    refused(tmp_path, file, "written by a newer qeval (schema 2 with the ")


def refused(folder: Path, file: str, said: str) -> None:
    with pytest.raises(UsageError) as raised:
        load_record(folder)
    assert file in str(raised.value)
    assert said in str(raised.value)
    assert "delete" not in str(raised.value).lower()


def stored(name: str) -> Record:
    return load_record(STORED / "schema_1" / "model" / name)


def compared(baseline: Record, candidate: Record) -> Any:
    return build_report(baseline, [candidate], Policy(), created_at="t")
