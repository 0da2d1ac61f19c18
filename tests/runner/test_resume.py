from pathlib import Path

import pytest

from qeval.errors import UsageError
from qeval.outcome import Outcome
from qeval.record import CASES_FILE, OUTCOMES_FILE, add_lines, load_outcomes, load_record, save_header, save_lines
from qeval.runner.batches import Batch
from qeval.runner.resume import check_same_identity, differences, keep_whole_batches
from tests.factories import make_record
from tests.runner.test_batches import prompt


def outcome(case: str, batch: int, repeat: int = 0) -> Outcome:
    return Outcome(
        suite="s", case=case, batch=batch, repeat=repeat, status="answered", text="é\u2028", token_ids=(1, 2)
    )


BATCHES = [
    Batch(0, 0, (prompt("a", 3), prompt("b", 3))),
    Batch(0, 1, (prompt("c", 3), prompt("d", 3))),
    Batch(1, 0, (prompt("a", 3),)),
]
LINES = [outcome("a", 0), outcome("b", 0), outcome("c", 1), outcome("d", 1), outcome("a", 0, repeat=1)]


def write(folder: Path, keep_bytes: int | None = None) -> None:
    header = make_record("fp32", {"s": [True]}).header
    save_header(folder, header)
    save_lines(folder / CASES_FILE, ())
    save_lines(folder / OUTCOMES_FILE, LINES)
    if keep_bytes is not None:
        path = folder / OUTCOMES_FILE
        path.write_bytes(path.read_bytes()[:keep_bytes])


def test_a_file_cut_at_a_byte_keeps_exactly_the_whole_batches(tmp_path: Path) -> None:
    write(tmp_path)
    whole = (tmp_path / OUTCOMES_FILE).read_bytes()
    ends = [position + 1 for position, byte in enumerate(whole) if byte == ord("\n")]
    near_ends = {cut for end in ends for cut in range(end - 3, end + 3)}
    for cut in sorted({0, len(whole)} | near_ends.intersection(range(len(whole))) | set(range(0, len(whole), 17))):
        (tmp_path / OUTCOMES_FILE).write_bytes(whole[:cut])
        kept = keep_whole_batches(tmp_path, BATCHES)
        lines = sum(end <= cut for end in ends)
        expected = {(0, 0)} if lines >= 2 else set()
        expected |= {(0, 1)} if lines >= 4 else set()
        expected |= {(1, 0)} if lines >= 5 else set()
        assert kept.batches == expected
        assert (
            len(load_outcomes(tmp_path))
            == kept.answers
            == sum(len(b.prompts) for b in BATCHES if (b.repeat, b.number) in expected)
        )


def test_what_is_kept_is_counted_again_rather_than_believed(tmp_path: Path) -> None:
    write(tmp_path)
    kept = keep_whole_batches(tmp_path, BATCHES)
    assert kept.measurements is not None
    assert kept.measurements.generated_tokens == 10


def test_a_batch_of_another_composition_is_redone(tmp_path: Path) -> None:
    write(tmp_path)
    other = [Batch(0, 0, (prompt("a", 3), prompt("z", 3)))]
    assert keep_whole_batches(tmp_path, other).batches == frozenset()
    assert load_outcomes(tmp_path) == []


def test_a_case_that_stands_twice_is_refused(tmp_path: Path) -> None:
    write(tmp_path)
    add_lines(tmp_path / OUTCOMES_FILE, [LINES[0]])
    with pytest.raises(UsageError, match="2 lines for case 'a' of s, repeat 0"):
        load_record(tmp_path)


def test_a_difference_in_identity_is_named_and_times_are_not_part_of_it() -> None:
    before = make_record("nf4", {"s": [True]}).header
    measured = before.model_copy(update={"measurements": before.measurements.model_copy(update={"run_s": 9.0})})
    check_same_identity(before, measured)
    check_same_identity(before, before.model_copy(update={"batch_mates": 1.7, "notes": ("moves by up to 1.7",)}))
    other = before.model_copy(update={"decoding": {**before.decoding, "do_sample": True}})
    with pytest.raises(UsageError, match=r"decoding\.do_sample was .*, is True"):
        check_same_identity(before, other)


def test_differences_name_keys_that_only_one_side_has() -> None:
    assert differences({"a": 1}, {"a": 1, "b": 2}) == ["b is new"]


@pytest.mark.parametrize(
    ("before", "now"), [("a" * 90 + "x", "a" * 90 + "y"), ("/data/suite", "/data/suite/" + "b" * 50)]
)
def test_long_values_are_shortened_to_where_they_differ(before: str, now: str) -> None:
    (said,) = differences({"value": before}, {"value": now})
    was, is_now = said.removeprefix("value was ").split(", is ")
    assert was != is_now
    assert max(len(was), len(is_now)) <= 46
