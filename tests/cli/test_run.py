"""The whole job with the scripted engine: every decision with its exit code, and what is left on disk."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from qeval.record import load_record
from tests.cli.job_files import FACTS, Ended, qeval_entry, write_job


def run(plan: Path, out: Path, *more: object, code: int | None = None) -> Ended:
    """Run `qeval run` without tracking."""
    done = qeval_entry("run", plan, "--out", out, "--no-track", *more)
    if code is not None:
        assert done.returncode == code, done.stdout + done.stderr
    return done


def wrong_from(start: int, n: int = 160) -> dict[str, Any]:
    """Answers of a candidate that gets the right ones from `start` on wrong."""
    return {"same_as": "fp32", "answers": {f"c{index}": "Paris" for index in range(start, n)}}


SAME: dict[str, Any] = {"same_as": "fp32"}


@pytest.fixture(scope="module")
def whole_run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A plan of fp32 and int8, and the folder of its finished run, for tests that begin with one."""
    folder = tmp_path_factory.mktemp("whole")
    plan = write_job(folder, {"int8": SAME})
    run(plan, folder / "out", code=0)
    return plan, folder / "out"


@pytest.fixture
def finished(whole_run: tuple[Path, Path], tmp_path: Path) -> tuple[Path, Path]:
    """The same with a copy of the folder, to be spoilt."""
    plan, out = whole_run
    return plan, Path(shutil.copytree(out, tmp_path / "out"))


@pytest.mark.parametrize(
    ("variants", "n_cases", "code", "decision"),
    [
        ({"int8": SAME}, 160, 0, "accepted"),
        ({"int8": SAME}, 40, 3, "inconclusive"),
        ({"int8": wrong_from(80)}, 160, 1, "regressed"),
        ({"int8": {"same_as": "fp32", "crash_at": "c7"}}, 160, 5, "incomplete"),
        ({"int8": SAME, "nf4": wrong_from(80)}, 160, 1, "regressed"),
    ],
    ids=["equal", "too few cases", "half lost", "crash", "one of two lost"],
)
def test_the_exit_code_is_the_decision(
    tmp_path: Path, variants: dict[str, Any], n_cases: int, code: int, decision: str
) -> None:
    plan = write_job(tmp_path, variants, n_cases)
    done = run(plan, tmp_path / "out", "--json", code=code)
    last = json.loads(done.stdout.splitlines()[-1])
    assert (last["decision"], last["exit_code"]) == (decision, code)
    verdict = json.loads((tmp_path / "out/verdict.json").read_text())
    assert verdict["decision"] == decision
    for name in ("report.html", "report.md", "junit.xml"):
        assert (tmp_path / "out" / name).stat().st_size > 200


def test_a_crash_costs_only_its_own_variant_and_the_decision_says_which_is_missing(tmp_path: Path) -> None:
    plan = write_job(tmp_path, {"int8": {"same_as": "fp32", "crash_at": "c7"}, "nf4": SAME})
    done = run(plan, tmp_path / "out", "--json", code=5)
    assert json.loads(done.stdout.splitlines()[-1])["candidates"] == {"int8": "incomplete", "nf4": "accepted"}
    assert "SIGKILL" in done.stderr
    assert load_record(tmp_path / "out/records/nf4").header.state == "complete"
    assert load_record(tmp_path / "out/records/int8").header.state == "crashed"


def test_c54_report_only_ends_with_zero_and_still_prints_the_decision(tmp_path: Path) -> None:
    plan = write_job(tmp_path, {"int8": wrong_from(80)})
    done = run(plan, tmp_path / "out", "--report-only", code=0)
    assert "regressed" in done.stdout


def test_c55_an_endpoint_that_refuses_everything_is_incomplete_and_nothing_is_scored(tmp_path: Path) -> None:
    refused = {f"c{index}": {"status": "endpoint_error", "detail": "HTTP 401"} for index in range(160)}
    plan = write_job(tmp_path, {"int8": {"answers": refused}})
    done = run(plan, tmp_path / "out", code=5)
    assert "0 of 160 cases" in done.stdout
    record = load_record(tmp_path / "out/records/int8")
    assert {grade.status for outcome in record.outcomes for grade in outcome.grades} == {"ungraded"}


def test_numeric_errors_anywhere_are_never_accepted(tmp_path: Path) -> None:
    broken = {"same_as": "fp32", "answers": {"c3": {"status": "numeric_error", "detail": "NaN at 4"}}}
    done = run(write_job(tmp_path, {"int8": broken}), tmp_path / "out")
    assert done.returncode not in {0, 2}


def test_a_resume_with_another_script_is_refused_and_touches_nothing(tmp_path: Path) -> None:
    plan = write_job(tmp_path, {"int8": {"same_as": "fp32", "crash_at": "c150"}, "nf4": SAME})
    run(plan, tmp_path / "out", code=5)
    before = load_record(tmp_path / "out/records/int8")
    assert 0 < len(before.outcomes) < 160
    baseline_file = tmp_path / "out/records/fp32/record.json"
    untouched = baseline_file.stat().st_mtime_ns
    write_job(tmp_path, {"int8": SAME, "nf4": SAME})
    refused = run(plan, tmp_path / "out", "--resume", code=2)
    assert "cannot resume" in refused.stderr
    assert "script" in refused.stderr
    assert baseline_file.stat().st_mtime_ns == untouched


def test_a_folder_that_holds_a_run_is_not_written_over(finished: tuple[Path, Path]) -> None:
    done = run(*finished, code=2)
    assert "already holds a run" in done.stderr
    assert "--resume" in done.stderr


def test_a_finished_run_resumes_without_answering_anything(finished: tuple[Path, Path]) -> None:
    files = sorted((finished[1] / "records").rglob("*.jsonl"))
    before = [path.read_bytes() for path in files]
    run(*finished, "--resume", code=0)
    assert [path.read_bytes() for path in files] == before


def test_a_time_limit_ends_a_variant_and_counts_it_as_missing(tmp_path: Path) -> None:
    plan = write_job(tmp_path, {"int8": {"same_as": "fp32", "hang_at": "c7"}}, time_limit_s=3)
    done = run(plan, tmp_path / "out", code=5)
    assert "time limit" in done.stderr


def test_identical_answers_are_said_aloud(finished: tuple[Path, Path]) -> None:
    done = qeval_entry("compare", finished[1] / "records/fp32", finished[1] / "records/int8")
    assert "every answer equals the baseline's in every token" in " ".join(done.stdout.split())


def test_dry_run_runs_nothing(tmp_path: Path) -> None:
    plan = write_job(tmp_path, {"int8": SAME})
    done = run(plan, tmp_path / "out", "--dry-run", "--json", code=0)
    assert json.loads(done.stdout.splitlines()[-1])["cases"] == 160
    assert not (tmp_path / "out").exists()


def test_hostile_answers_survive_the_whole_way(tmp_path: Path) -> None:
    hostile = {"c0": "</script><b>\u2028\x00\x1b[31m]]> @all ```", "c2": "٣ ‮x", "c4": FACTS[4]}
    plan = write_job(tmp_path, {"int8": {"same_as": "fp32", "answers": hostile}})
    run(plan, tmp_path / "out")
    texts = [outcome.text for outcome in load_record(tmp_path / "out/records/int8").outcomes]
    assert hostile["c0"] in texts


def test_a_run_without_a_candidate_is_refused_before_anything_runs(tmp_path: Path) -> None:
    done = run(write_job(tmp_path, {}), tmp_path / "out", code=2)
    assert "nothing to compare" in done.stderr
    assert not (tmp_path / "out").exists()


def test_a_resume_where_no_run_lies_is_refused_and_writes_nothing(tmp_path: Path) -> None:
    done = run(write_job(tmp_path, {"int8": SAME}), tmp_path / "mistyped", "--resume", code=2)
    assert "no run to resume" in done.stderr
    assert not (tmp_path / "mistyped/plan.json").exists()


def test_an_interrupt_ends_with_130_and_says_how_to_finish(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("qeval.job.run_job", interrupt)
    done = run(write_job(tmp_path, {"int8": SAME}), tmp_path / "out", "--json", code=130)
    assert f"--out {tmp_path / 'out'} --resume" in done.stderr
    assert json.loads(done.stdout.splitlines()[-1])["exit_code"] == 130


def test_a_script_whose_variants_stand_for_each_other_is_refused(tmp_path: Path) -> None:
    plan = write_job(tmp_path, {"int8": {"same_as": "nf4"}, "nf4": {"same_as": "int8"}})
    done = run(plan, tmp_path / "out", code=2)
    assert "circle" in done.stderr


def test_same_as_is_followed_all_the_way(tmp_path: Path) -> None:
    variants = {"int8": {"same_as": "nf4"}, "nf4": {"default": "Paris"}}
    run(write_job(tmp_path, variants), tmp_path / "out")
    assert {o.text for o in load_record(tmp_path / "out/records/int8").outcomes} == {"Paris"}


def test_paths_in_a_plan_count_from_its_folder(tmp_path: Path) -> None:
    plan = write_job(tmp_path, {"int8": SAME}, suites=["./capitals"])
    run(plan, tmp_path / "out", "--dry-run", code=0)


def test_a_record_without_its_outcomes_is_damaged_not_empty(finished: tuple[Path, Path]) -> None:
    records = finished[1] / "records"
    (records / "int8/outcomes.jsonl").unlink()
    done = qeval_entry("compare", records / "fp32", records / "int8")
    assert done.returncode == 2
    assert "outcomes.jsonl is missing" in done.stderr


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--tracking-uri", "ftp://x"], "tracking address"),
        (["--policy", "policy.yaml"], "requires candidate 'zz'"),
        (["--policy", ""], "--policy is empty"),
        (["--reverse-kl", "--no-fidelity"], "reverse_kl is a part of fidelity, which is off"),
    ],
    ids=["tracking address", "candidate of the policy", "empty option", "reverse KL without fidelity"],
)
def test_what_can_be_known_before_the_run_is_refused_before_it(tmp_path: Path, more: list[str], words: str) -> None:
    (tmp_path / "policy.yaml").write_text("candidates_required: [zz]\n")
    more = [str(tmp_path / part) if part == "policy.yaml" else part for part in more]
    done = qeval_entry("run", write_job(tmp_path, {"int8": SAME}), "--out", tmp_path / "out", *more)
    assert (done.returncode, words in done.stderr) == (2, True), done.stderr
    assert not (tmp_path / "out/records").exists()


def test_a_script_that_lacks_a_variant_is_refused_before_anything_runs(tmp_path: Path) -> None:
    plan = write_job(tmp_path, {"int8": SAME})
    plan.write_text(plan.read_text().replace("- int8", "- nf4"))
    assert "nf4" in run(plan, tmp_path / "out", code=2).stderr
    assert not (tmp_path / "out").exists()


def test_an_out_that_is_a_file_is_a_usage_error_and_never_a_regression(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("")
    done = run(write_job(tmp_path, {"int8": SAME}), tmp_path / "out", "--json", code=2)
    assert json.loads(done.stdout.splitlines()[-1])["exit_code"] == 2
    assert f"{tmp_path / 'out'}: File exists. Choose a place" in done.stderr


def test_a_fault_of_qeval_itself_never_looks_like_a_decision(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise KeyError("made for the test")

    monkeypatch.setattr("qeval.job.run_job", broken)
    done = run(write_job(tmp_path, {"int8": SAME}), tmp_path / "out", "--json", code=70)
    assert json.loads(done.stdout.splitlines()[-1])["exit_code"] == 70


def test_a_command_line_that_cannot_be_read_ends_with_a_json_line_too(tmp_path: Path) -> None:
    done = qeval_entry("run", tmp_path / "plan.yaml", "--nope", "--json")
    assert (done.returncode, json.loads(done.stdout.splitlines()[-1])["exit_code"]) == (2, 2)


def test_a_complete_record_with_a_hole_is_redone_by_a_resume_and_refused_by_a_comparison(
    finished: tuple[Path, Path],
) -> None:
    records = finished[1] / "records"
    outcomes = records / "int8/outcomes.jsonl"
    whole = outcomes.read_text()
    outcomes.write_text("".join(whole.splitlines(keepends=True)[3:]))
    compared = qeval_entry("compare", records / "fp32", records / "int8")
    assert compared.returncode == 2
    assert "outcomes.jsonl: not what it was when the run ended: lines are missing" in compared.stderr
    run(*finished, "--resume", code=0)
    assert outcomes.read_text() == whole


def test_an_outcome_of_a_case_that_the_record_does_not_list_is_refused(finished: tuple[Path, Path]) -> None:
    records = finished[1] / "records"
    outcomes = records / "int8/outcomes.jsonl"
    outcomes.write_text(outcomes.read_text().replace('"c7"', '"stranger"'))
    done = qeval_entry("compare", records / "fp32", records / "int8")
    assert (done.returncode, "stranger" in done.stderr) == (2, True)


def test_a_resume_with_other_variants_names_them(finished: tuple[Path, Path]) -> None:
    done = run(*finished, "--variants", "fp32,nf4", "--resume", code=2)
    assert "'nf4'" in done.stderr
