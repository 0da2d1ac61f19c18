"""An answer on which grading does not end costs its own grade, in a run as in `qeval grade`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from qeval.record import load_record
from tests.cli.job_files import qeval_entry, write_job

PATTERN = r"(?:\w|\w\w|\w\w\w| )+(?<!39)"
TRAP = {"id": "trap", "prompt": "Count.", "graders": [{"kind": "regex", "pattern": PATTERN, "full": True}]}
ANSWER = " ".join(f"word{n}" for n in range(40))


@pytest.mark.slow  # the candidate waits until the system ends its worker
def test_a_run_goes_on_after_a_grade_that_does_not_end(tmp_path: Path):
    plan = write_job(tmp_path, {"bf16": {"answers": {"trap": ANSWER}}}, n_cases=4)
    cases = tmp_path / "capitals/cases.jsonl"
    cases.write_text(json.dumps(TRAP) + "\n" + cases.read_text())
    done = qeval_entry("run", plan, "--out", tmp_path / "out")
    # One of five cases is ungraded, which is more than may be.
    assert done.returncode == 5, done.stderr
    record = load_record(tmp_path / "out/records/bf16")
    graded = {outcome.case: outcome for outcome in record.outcomes}
    (grade,) = graded.pop("trap").grades
    assert (grade.status, grade.fault) == ("ungraded", "grading_timeout")
    assert [outcome.passed() is not None for outcome in graded.values()] == [True] * 4
    # The wait says nothing of the variant.
    assert (record.header.measurements.run_s or 0) < 5
    verdicts = json.loads((tmp_path / "out/verdict.json").read_text())["candidates"][0]["verdicts"]
    assert verdicts[0]["unanswered"] == {"grading_timeout": 1}
