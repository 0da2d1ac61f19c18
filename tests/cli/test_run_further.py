"""`qeval run --resume` with further candidates: they are added to what is there, which stays as it is."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml
from mlflow import MlflowClient

from qeval.record import load_record
from qeval.runner import run as running
from qeval.runner.process import Ended
from tests.cli.job_files import Ended as Finished
from tests.cli.job_files import qeval_entry, write_job

SAME: dict[str, Any] = {"same_as": "fp32"}
SOME_LOST: dict[str, Any] = {"same_as": "fp32", "answers": {f"c{index}": "Paris" for index in range(0, 480, 8)}}
HALF_LOST: dict[str, Any] = {"same_as": "fp32", "answers": {f"c{index}": "Paris" for index in range(0, 480, 4)}}
NOT_YET = ("--variants", "fp32,int8")


def run(plan: Path, *more: object, code: int | None = None) -> Finished:
    done = qeval_entry("run", plan, "--out", plan.parent / "out", *more)
    if code is not None:
        assert done.returncode == code, done.stdout + done.stderr
    return done


def write_variants(plan: Path, *variants: str | dict[str, str]) -> None:
    plan.write_text(yaml.safe_dump({**yaml.safe_load(plan.read_text()), "variants": list(variants)}))


def answers(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in sorted((folder / "out/records").rglob("*.jsonl"))}


def test_a_further_candidate_joins_a_finished_run_and_nothing_else_runs_again(tmp_path: Path) -> None:
    plan = write_job(tmp_path, {"int8": SAME, "nf4": SOME_LOST})
    run(plan, *NOT_YET, code=0)
    before = answers(tmp_path)
    added = run(plan, "--resume", "--report-only", code=0)
    assert [line for line in added.stderr.splitlines() if "done" in line] == [
        "fp32: done before",
        "int8: done before",
        "nf4: done, 170 answers",
    ]
    after = answers(tmp_path)
    assert {path: after[path] for path in before} == before
    verdict = json.loads((tmp_path / "out/verdict.json").read_text())
    assert [candidate["candidate"] for candidate in verdict["candidates"]] == ["int8", "nf4"]
    # From now on the run is the larger one.
    run(plan, "--resume", "--report-only", code=0)
    gone = run(plan, *NOT_YET, "--resume", code=2)
    assert "plan.variants.nf4 is gone" in gone.stderr


def test_a_candidate_that_is_there_may_not_become_another(tmp_path: Path) -> None:
    plan = write_job(tmp_path, {"int8": SAME, "nf4": SAME})
    run(plan, *NOT_YET, code=0)
    before = answers(tmp_path)
    write_variants(plan, "fp32", {"name": "int8", "format": "nf4"}, "nf4")
    assert "plan.variants.int8.spec" in run(plan, "--resume", code=2).stderr
    other = run(plan, "--batch-size", 7, "--resume", code=2)
    assert "plan.batch_size was 64, is 7" in other.stderr
    assert answers(tmp_path) == before


def test_a_further_candidate_may_be_of_another_model(tmp_path: Path) -> None:
    plan = write_job(tmp_path, {"int8": SAME, "pruned": SAME})
    run(plan, *NOT_YET, code=0)
    write_variants(plan, "fp32", "int8", {"name": "pruned", "format": "fp32", "model": "scripted-and-pruned"})
    run(plan, "--resume", code=0)


def test_a_damaged_plan_is_named(tmp_path: Path) -> None:
    plan = write_job(tmp_path, {"int8": SAME, "nf4": SAME})
    run(plan, *NOT_YET, code=0)
    for text in ("{", "[]", '{"plan": []}', '{"plan": {"variants": 3}}', "{}"):
        (tmp_path / "out/plan.json").write_text(text)
        assert "damaged" in run(plan, "--resume", code=2).stderr


def test_a_candidate_that_ended_goes_on_where_more_candidates_ask_for_more_evidence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = write_job(tmp_path, {"int8": SOME_LOST, "nf4": SAME}, 480, size="standard")
    monkeypatch.setattr("qeval.job.ends", lambda base, own, policy, candidates: "harm" if candidates == 1 else None)
    run(plan, *NOT_YET, "--report-only", code=0)
    ended = load_record(tmp_path / "out/records/int8")
    assert (len(ended.by_case()), ended.header.stopping and ended.header.stopping.ended) == (160, "harm")
    run(plan, *NOT_YET, "--resume", "--report-only", code=0)
    assert load_record(tmp_path / "out/records/int8") == ended
    run(plan, "--resume", "--report-only", code=0)
    whole = load_record(tmp_path / "out/records/int8")
    assert (len(whole.by_case()), whole.header.stopping and whole.header.stopping.ended) == (480, None)
    assert whole.outcomes[: len(ended.outcomes)] == ended.outcomes


def test_a_further_candidate_that_cannot_run_may_be_left_out_again(tmp_path: Path) -> None:
    plan = write_job(tmp_path, {"int8": SAME, "nf4": {"same_as": "fp32", "crash_at": "c9"}})
    run(plan, *NOT_YET, code=0)
    run(plan, "--resume", code=5)
    run(plan, *NOT_YET, "--resume", code=0)
    verdict = json.loads((tmp_path / "out/verdict.json").read_text())
    assert [candidate["candidate"] for candidate in verdict["candidates"]] == ["int8"]


def test_a_candidate_that_ended_stays_as_it_is_where_the_baseline_cannot_be_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = write_job(tmp_path, {"int8": HALF_LOST}, 480, size="standard")
    run(plan, "--report-only", code=0)
    ended = load_record(tmp_path / "out/records/int8")
    assert (ended.header.stopping and ended.header.stopping.ended) == "harm"
    shutil.rmtree(tmp_path / "out/records/fp32")
    monkeypatch.setattr(running, "run_in_process", lambda *given: Ended("crashed", "no reason"))
    run(plan, "--resume", code=5)
    assert load_record(tmp_path / "out/records/int8") == ended


def test_a_plan_that_says_the_same_in_other_words_is_the_same(tmp_path: Path) -> None:
    plan = write_job(tmp_path, {"int8": SAME})
    run(plan, code=0)
    content = yaml.safe_load(plan.read_text())
    plan.write_text(yaml.safe_dump({**content, "baseline": "fp32", "suites": [f"{content['suites'][0]}/"]}))
    run(plan, "--resume", code=0)
    suite = tmp_path / "capitals/suite.yaml"
    suite.write_text(suite.read_text().replace("version: 1", "version: 2"))
    assert "suites.capitals" in run(plan, "--resume", code=2).stderr


def test_a_finished_run_that_is_resumed_is_tracked_once(tmp_path: Path) -> None:
    plan = write_job(tmp_path, {"int8": SAME}, 12)
    for more in ((), ("--resume",)):
        qeval_entry("run", plan, "--out", tmp_path / "out", "--report-only", *more)
    store = MlflowClient(f"sqlite:///{tmp_path / 'out/mlflow.db'}")
    (experiment,) = store.search_experiments(filter_string="name = 'qeval'")
    assert len(store.search_runs([experiment.experiment_id])) == 3
