"""`qeval run` with repeats and early endings: real processes, the scripted engine."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from qeval.record import load_record
from qeval.runner.plan import load_plan, resolve_plan
from tests.cli.job_files import Ended, qeval_entry, write_job

HALF_LOST: dict[str, Any] = {"same_as": "fp32", "answers": {f"c{index}": "Paris" for index in range(0, 480, 4)}}


def run(plan: Path, out: Path, *more: object) -> Ended:
    return qeval_entry("run", plan, "--out", out, "--no-track", *more)


@pytest.mark.usefixtures("real_processes")
def test_at_standard_size_obvious_harm_ends_a_candidate_and_the_next_one_still_runs(tmp_path: Path) -> None:
    plan = write_job(tmp_path, {"int8": HALF_LOST, "nf4": {"same_as": "fp32"}}, 480, size="standard")
    done = run(plan, tmp_path / "out")
    assert done.returncode == 1, done.stdout + done.stderr
    lost, same = (load_record(tmp_path / "out" / "records" / name) for name in ("int8", "nf4"))
    assert (len(lost.by_case()), len(same.by_case())) == (160, 480)
    assert "ended early by proven harm after 160 of 480 cases" in " ".join(done.stdout.split())
    verdict = json.loads((tmp_path / "out" / "verdict.json").read_text())
    decisions = {c["candidate"]: c["decision"] for c in verdict["candidates"]}
    assert decisions == {"int8": "regressed", "nf4": "accepted"}
    # Nothing is redone, and the report is the same.
    again = run(plan, tmp_path / "out", "--resume")
    assert again.returncode == 1
    assert load_record(tmp_path / "out" / "records" / "int8") == lost


@pytest.mark.parametrize(
    ("size", "stop_early", "on"),
    [
        ("smoke", None, ()),
        ("standard", None, ("harm",)),
        ("full", None, ("harm",)),
        ("smoke", True, ("harm", "acceptance")),
        ("standard", False, ()),
    ],
)
def test_size_and_flag_decide_what_may_end_a_run(
    tmp_path: Path, size: str, stop_early: bool | None, on: tuple[str, ...]
) -> None:
    plan = write_job(tmp_path, {"int8": HALF_LOST}, 40, size=size, stop_early=stop_early)
    assert resolve_plan(load_plan(plan)).stop_on == on


def test_repeats_take_as_many_cases_as_the_margins_need(tmp_path: Path) -> None:
    plan = write_job(tmp_path, {"int8": {"same_as": "fp32"}}, 160)
    assert run(plan, tmp_path / "out", "--repeats", 2).returncode == 0
    record = load_record(tmp_path / "out" / "records" / "fp32")
    # The pool's margin of 2 points with 160 cases tolerates 1 % of own flips: all of them run again.
    assert [len(record.by_case(repeat)) for repeat in range(4)] == [160, 160, 160, 0]
    pool = json.loads((tmp_path / "out" / "verdict.json").read_text())["candidates"][0]["verdicts"][0]
    assert (pool["baseline_self"]["n"], pool["baseline_self"]["runs"]) == (160, 3)
    assert pool["excess_churn"]["estimate"] == 0
