"""One file given as eight suites: runs, comparisons and checks of suites say so, and decide as for one."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from qeval.compare.policy import Policy
from qeval.job import cases_again
from qeval.runner.plan import load_plan, resolve_plan
from tests.cli.job_files import qeval, qeval_entry, write_job

COPIES = 8
RIGHT = {"default": "Oslo, Lima, Cairo, Quito or Hanoi"}
"""Right in every case, in other words than the baseline."""


def job(folder: Path, copies: int, n_cases: int, nf4: dict[str, Any], **plan: Any) -> Path:
    """Write a job whose suite is there so many times, under as many names, and is right in the baseline."""
    path = write_job(folder, {"nf4": nf4}, n_cases=n_cases, **plan)
    suites = []
    for number in range(copies):
        copy = folder / f"copy{number}"
        shutil.copytree(folder / "capitals", copy)
        (copy / "suite.yaml").write_text(f"name: capitals-{number}\nversion: 1\ndescription: Capitals, for tests.\n")
        suites.append(str(copy))
    content = yaml.safe_load(path.read_text()) | {"suites": suites}
    path.write_text(yaml.safe_dump(content))
    script = yaml.safe_load((folder / "script.yaml").read_text()) | {"default": "Oslo Lima Cairo Quito Hanoi"}
    script["variants"]["fp32"] = {}
    (folder / "script.yaml").write_text(yaml.safe_dump(script))
    return path


def run(folder: Path, copies: int, n_cases: int, nf4: dict[str, Any], **plan: Any) -> dict[str, Any]:
    done = qeval_entry(
        "run", job(folder, copies, n_cases, nf4, **plan), "--out", folder / "out", "--no-track", "--json"
    )
    report: dict[str, Any] = json.loads((folder / "out/verdict.json").read_text("utf-8"))
    assert report["exit_code"] == done.returncode
    return report | {"printed": done.stderr}


def pool(report: dict[str, Any]) -> dict[str, Any]:
    (candidate,) = report["candidates"]
    return next(v for v in candidate["verdicts"] if v["role"] == "pool" and v["metric"] == "pass")


def test_eight_copies_decide_as_one_in_a_run_and_a_comparison(tmp_path: Path) -> None:
    one = run(tmp_path / "one", 1, 60, RIGHT)
    many = run(tmp_path / "many", COPIES, 60, RIGHT)
    assert (one["decision"], many["decision"]) == ("inconclusive", "inconclusive")
    for key in ("n", "clusters", "effective_n", "low", "high", "p_noninferior", "ruling", "cases_needed"):
        assert pool(many)[key] == pool(one)[key], key
    assert "480 cases in 8 suites ask 60 different prompts" in " ".join(many["printed"].split())
    assert (many["independence"]["cases"], many["independence"]["prompts"]) == (480, 60)
    records = tmp_path / "many/out/records"
    compared = qeval("compare", records / "fp32", records / "nf4", "--json", "--out", tmp_path / "compared")
    assert compared.exit_code == 3
    for name in ("report.md", "report.html"):
        assert "480 cases in 8 suites ask 60 different prompts" in (tmp_path / "many/out" / name).read_text("utf-8")


def test_copies_do_not_end_a_run_as_accepted(tmp_path: Path) -> None:
    # 1,000 cases without a flip would be accepted at a look; 125 are not.
    report = run(tmp_path, COPIES, 125, RIGHT, stop_early=True)
    assert report["decision"] == "inconclusive"
    assert pool(report)["n"] == 125
    assert "ended_early" not in pool(report)["flags"]


def test_copies_are_said_before_anything_runs(tmp_path: Path) -> None:
    path = job(tmp_path, COPIES, 12, RIGHT)
    dry = " ".join(qeval("run", path, "--dry-run").output.split())
    assert "96 cases in 8 suites ask 12 different prompts" in dry
    suites = [tmp_path / f"copy{number}" for number in range(COPIES)]
    checked = qeval_entry("suites", "check", *suites, "--json")
    told = json.loads(checked.stdout.splitlines()[-1])
    assert told["independence"]["prompts"] == 12
    texts = [finding["text"] for finding in told["findings"]]
    assert any("96 cases in 8 suites ask 12 different prompts" in text for text in texts)
    assert any(text.startswith("near-equal prompts count as independent: 12 of 12 prompts") for text in texts)
    assert any(text.startswith("all: 12 cases; to exclude a loss of 2.0 points it takes") for text in texts)


def test_a_plan_of_copies_counts_each_prompt_once(tmp_path: Path) -> None:
    job(tmp_path, COPIES, 60, RIGHT)
    names = ",".join(str(tmp_path / f"copy{number}") for number in range(COPIES))
    planned = json.loads(qeval_entry("power", "--suites", names, "--json").stdout.splitlines()[-1])
    rows = {row["label"]: row for row in planned["slices"]}
    assert (rows["all"]["n"], rows["all"]["clusters"], planned["tests"], planned["must_hold"]) == (60, 60, 1, 1)


@pytest.mark.parametrize("name", ["fp32", "nf4"])
def test_a_record_says_what_its_cases_ask_and_which_are_near_equal(tmp_path: Path, name: str) -> None:
    run(tmp_path, 2, 12, RIGHT)
    lines = (tmp_path / "out/records" / name / "cases.jsonl").read_text("utf-8").splitlines()
    cases = [json.loads(line) for line in lines]
    assert len({case["asked"] for case in cases}) == 12
    assert {case["near_equal"] for case in cases} == {"capitals-0/c0"}


def test_as_many_different_prompts_run_again_as_of_one_copy(tmp_path: Path) -> None:
    counts = []
    for copies in (1, COPIES):
        path = job(tmp_path / str(copies), copies, 60, RIGHT, repeats=1)
        plan = resolve_plan(load_plan(path))
        counts.append(cases_again(plan, Policy()))
    assert set(counts[1].values()) == set(counts[0].values()) == {60}
    # Within one suite, the copies of a case that runs again may be others' copies: more of them run.
    doubled = tmp_path / "1/copy0/cases.jsonl"
    lines = doubled.read_text("utf-8").splitlines()
    again = [json.dumps({**json.loads(line), "id": f"again-{number}"}) for number, line in enumerate(lines)]
    doubled.write_text("\n".join([*lines, *again]))
    plan = resolve_plan(load_plan(tmp_path / "1/plan.yaml"))
    assert cases_again(plan, Policy(margins={"pool": 0.2, "suites": {"capitals-0": 0.2}})) == {"capitals-0": 60}
