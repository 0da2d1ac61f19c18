"""The judge in the whole job: off unless the plan names one, refused where it makes no sense. See test_judging."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from qeval.record import load_record
from qeval.runner.plan import load_plan, resolve_plan
from tests.cli.job_files import qeval_entry
from tests.runner.judge_server import judge_server, verdict

WATCH = """
import os, sys
def hook(event, arguments):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.sendto"):
        with open(os.environ["WATCHED"], "a") as file:
            file.write(f"{event} {arguments}\\n")
sys.addaudithook(hook)
with open(os.environ["STARTED"], "a") as file:
    file.write("x")
"""


def write_job(folder: Path, *, required: bool) -> Path:
    """Two cases that a rubric grades beside `not_contains`."""
    suite = folder / "towns"
    suite.mkdir()
    (suite / "suite.yaml").write_text("name: towns\nversion: 1\ndescription: Towns, for tests.\n")
    judge = {"kind": "judge", "rubric": "Names Oslo.", "required": required}
    graders = [{"kind": "not_contains", "value": "Rome"}, judge]
    cases = [{"id": name, "prompt": "Town?", "graders": graders} for name in "ab"]
    (suite / "cases.jsonl").write_text("".join(json.dumps(case) + "\n" for case in cases))
    (folder / "script.yaml").write_text(yaml.safe_dump({"default": "Oslo", "variants": {"fp32": {}, "nf4": {}}}))
    return write_plan(folder)


def write_plan(folder: Path, **more: Any) -> Path:
    plan = {"model": "m", "engine": "scripted", "script": "script.yaml", "variants": ["fp32", "nf4"], "self_check": 0}
    (folder / "plan.yaml").write_text(yaml.safe_dump({**plan, "suites": ["./towns"], **more}))
    return folder / "plan.yaml"


def statuses(out: Path) -> set[str]:
    """Status and class of the judge's grades in both records."""
    outcomes = [o for name in ("fp32", "nf4") for o in load_record(out / "records" / name).outcomes]
    return {f"{g.status} {g.fault}" for o in outcomes for g in o.grades if g.metric == "judge"}


def test_nothing_is_connected_to_unless_the_plan_names_a_judge(tmp_path: Path) -> None:
    """Every Python process of a run, the variants' too, writes down what it connects to."""
    (tmp_path / "watch").mkdir()
    (tmp_path / "watch/sitecustomize.py").write_text(WATCH)
    seen, started, out = tmp_path / "seen", tmp_path / "started", tmp_path / "out"
    path = os.pathsep.join(filter(None, [str(tmp_path / "watch"), os.environ.get("PYTHONPATH")]))
    environment = {**os.environ, "PYTHONPATH": path, "WATCHED": str(seen), "STARTED": str(started)}
    environment["QEVAL_JUDGE_KEY"] = "a-key-alone-is-no-judge"

    def python(*arguments: object) -> int:
        command = [sys.executable, *(str(one) for one in arguments)]
        return subprocess.run(command, env=environment, capture_output=True, check=False).returncode

    plan = write_job(tmp_path, required=False)
    assert python("-m", "qeval", "run", plan, "--out", out, "--no-track") == 3
    assert len(started.read_text()) >= 3, "the parent and both variants are watched"
    assert not seen.exists()
    assert statuses(out) == {"ungraded judge_off"}
    assert not list(out.glob("records/*/judgements.jsonl"))
    # What watches would have seen a connection that fails at once.
    assert python("-c", "import socket; socket.create_connection(('127.0.0.1', 0), 1)") == 1
    assert "socket.connect" in seen.read_text()


def test_a_finished_run_is_judged_when_its_plan_names_a_judge_and_kept_when_it_names_none(tmp_path: Path) -> None:
    plan, out = write_job(tmp_path, required=False), tmp_path / "out"
    command = ("run", plan, "--out", out, "--no-track")
    with judge_server(lambda _, __: verdict("pass")) as server:
        write_plan(tmp_path, judge={"url": server.url, "model": "m"})
        done = qeval_entry(*command)
        assert (done.returncode, len(server.asked)) == (3, 1)
        assert "nf4: judge, 2 of 2 grades given; no request was needed" in done.stderr
        write_plan(tmp_path, judge={"url": server.url, "model": "another"})
        qeval_entry(*command, "--resume")
        write_plan(tmp_path)
        done = qeval_entry(*command, "--resume")
        assert (done.returncode, len(server.asked)) == (3, 2)
    assert statuses(out) == {"pass None"}
    judge = load_record(out / "records/nf4").header.judge
    assert judge is not None
    assert judge.model == "another"


def test_an_early_end_is_refused_where_a_judge_decides(tmp_path: Path) -> None:
    plan = write_job(tmp_path, required=True)
    done = qeval_entry("run", plan, "--out", tmp_path / "out", "--stop-early")
    assert done.returncode == 2
    assert "some cases pass by a required judge" in done.stderr
    assert resolve_plan(load_plan(write_plan(tmp_path, size="standard"))).stop_on == ()


def test_an_early_end_goes_with_a_judge_that_only_advises(tmp_path: Path) -> None:
    write_job(tmp_path, required=False)
    assert resolve_plan(load_plan(write_plan(tmp_path, size="standard"))).stop_on == ("harm",)


@pytest.mark.parametrize("graders", [1, 2])
def test_a_case_with_judges_alone_of_which_none_is_required_is_refused(tmp_path: Path, graders: int) -> None:
    write_job(tmp_path, required=False)
    case = {"id": "a", "prompt": "?", "graders": [{"kind": "judge", "rubric": "Names Oslo."}] * graders}
    (tmp_path / "towns/cases.jsonl").write_text(json.dumps(case) + "\n")
    done = qeval_entry("suites", "check", tmp_path / "towns")
    assert done.returncode == 2
    assert "could neither pass nor fail" in done.stderr
