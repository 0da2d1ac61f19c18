"""`qeval suites new`: what it writes is sound, runs, and is passed by right answers alone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from qeval.runner import run
from qeval.suites import load_suite
from qeval.suites.lint import lint
from qeval.suites.load import load_placed
from tests.cli.job_files import qeval, qeval_entry
from tests.grading.case_files import FOLDER as _GRADERS
from tests.one_process import run_here
from tests.suites.answers import passes

RIGHT = {
    "opening-hours": "It closes at 14.",
    "order-as-json": '{"item": "blue lamps", "count": 3}',
    "book-a-room": '{"name": "book_room", "arguments": {"room": "green", "day": "Tuesday"}}',
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    assert qeval_entry("suites", "new", "support", "--out", tmp_path / "support").returncode == 0
    return tmp_path / "support"


def test_the_starter_is_sound_and_named_throughout(folder: Path) -> None:
    assert lint([load_placed(folder)]) == []
    assert load_suite(folder).name == "support"
    readme = (folder / "README.md").read_text("utf-8")
    assert "# support\n" in readme
    assert "NAME" not in readme + (folder / "suite.yaml").read_text("utf-8")
    assert all(f"`{case.id}`" in readme for case in load_suite(folder).cases)


def test_its_cases_are_of_different_graders_and_tell_right_from_wrong(folder: Path) -> None:
    cases = load_suite(folder).cases
    kinds = [grader["kind"] for case in cases for grader in case.graders]
    assert len(set(kinds)) == 3
    assert set(kinds) <= {path.stem for path in _GRADERS.iterdir()}
    assert [passes(case, RIGHT[case.id]) for case in cases] == [True] * 3
    assert [passes(case, "I do not know.") for case in cases] == [False] * 3


def test_it_runs(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "run_in_process", run_here)
    variants = {"fp32": {"answers": RIGHT}, "int8": {"same_as": "fp32"}}
    (tmp_path / "script.yaml").write_text(yaml.safe_dump({"default": "?", "variants": variants}))
    plan = {"model": "scripted", "engine": "scripted", "script": "script.yaml", "variants": [*variants]}
    (tmp_path / "plan.yaml").write_text(yaml.safe_dump({**plan, "suites": [str(folder)]}))
    ended = qeval("run", tmp_path / "plan.yaml", "--out", tmp_path / "out", "--no-track", "--report-only")
    assert ended.exit_code == 0, ended.output
    graded = qeval_entry("grade", tmp_path / "out/records/fp32", "--suites", folder, "--json")
    told = json.loads(graded.stdout.splitlines()[-1])
    assert {answer["case"]: answer["pass"] for answer in told["answers"]} == dict.fromkeys(RIGHT, True)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("My Suite", "suite name 'My Suite': key 'name'"),
        ("longdoc", "'longdoc' is a built-in suite"),
        ("taken", "taken: is there already and not empty"),
    ],
)
def test_what_cannot_be_written_is_refused(
    name: str, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken/mine.txt").write_text("mine")
    done = qeval_entry("suites", "new", name)
    assert done.returncode == 2
    assert words in done.stderr
    assert [path.name for path in tmp_path.rglob("*")] == ["taken", "mine.txt"]


def test_without_a_place_it_goes_to_a_folder_of_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = qeval_entry("suites", "new", "mine")
    assert "Now: qeval suites check ./mine" in done.stdout
    assert load_suite("./mine").name == "mine"
