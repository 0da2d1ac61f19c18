"""An answer on which grading does not end costs its own grade, in a run as in `qeval grade`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from qeval.record import load_record
from tests.cli.job_files import qeval_entry, write_job

TRAP = {"id": "trap", "prompt": "Say a.", "graders": [{"kind": "regex", "pattern": "(?:a|aa|aaa)+b", "full": True}]}


@pytest.mark.slow  # each of the two variants waits until the system ends its worker
def test_a_run_goes_on_after_a_grade_that_does_not_end(tmp_path: Path):
    plan = write_job(tmp_path, {"bf16": {"answers": {}}}, n_cases=4)
    cases, script = tmp_path / "capitals/cases.jsonl", tmp_path / "script.yaml"
    cases.write_text(json.dumps(TRAP) + "\n" + cases.read_text())
    script.write_text(script.read_text().replace("I do not know.", "a" * 4_000))
    done = qeval_entry("run", plan, "--out", tmp_path / "out")
    # One of five cases is ungraded, which is more than may be.
    assert done.returncode == 5, done.stderr
    for variant in ("fp32", "bf16"):
        record = load_record(tmp_path / "out/records" / variant)
        graded = {outcome.case: outcome for outcome in record.outcomes}
        assert len(graded) == 5
        (grade,) = graded.pop("trap").grades
        assert (grade.status, grade.fault) == ("ungraded", "grading_timeout")
        assert all(outcome.passed() is not None for outcome in graded.values())
        assert record.header.measurements.run_s < 5
    assert "grading_timeout" in (tmp_path / "out/verdict.json").read_text()
