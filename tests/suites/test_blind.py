"""Cases that pass an answer to nothing are named, and what a model would score with such answers alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from qeval.grading import Question
from qeval.grading.base import Answer, check_grader, find_grader
from qeval.suites import list_suites
from qeval.suites.lint.blind import PROBES, _told, probe
from qeval.suites.load import load_placed
from tests.cli.job_files import qeval_entry

ROWS = yaml.safe_load(Path(__file__).with_name("blind_cases.yaml").read_text("utf-8"))
SOUND = {"id": "a", "prompt": "What is the capital?", "graders": [{"kind": "exact", "value": "Oslo"}]}


def write(folder: Path, *cases: dict[str, Any]) -> Path:
    path = folder / "mine.jsonl"
    path.write_text("".join(json.dumps({**SOUND, **case}) + "\n" for case in cases), encoding="utf-8")
    return path


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["name"])
def test_what_a_case_passes_is_counted_and_warned_of(row: dict[str, Any], tmp_path: Path) -> None:
    found = probe(load_placed(write(tmp_path, row["case"])))
    assert [name for name, n in found.passed.items() if n] == row["passes"]
    warned = [name for name in PROBES if any(PROBES[name] in finding.text for finding in found.findings)]
    assert warned == row.get("warns", row["passes"])
    assert {(finding.level, finding.case) for finding in found.findings} <= {("warning", "a")}


def test_one_answer_in_two_languages_is_graded_twice(tmp_path: Path) -> None:
    graders = [{"kind": "refusal", "expect": "comply"}]
    cases = [{"id": lang, "graders": graders, "tags": {"lang": lang}} for lang in ("en", "xh")]
    # No refusal is known in Xhosa, so nothing is graded there.
    assert probe(load_placed(write(tmp_path, *cases))).passed["echo"] == 1


def test_every_probe_is_tried_somewhere() -> None:
    assert {name for row in ROWS for name in row["passes"]} == set(PROBES) - {"empty"}


@pytest.mark.parametrize("suite", [entry.name for entry in list_suites()])
def test_no_built_in_case_passes_an_empty_answer(suite: str) -> None:
    passed = probe(load_placed(suite, "smoke")).passed
    assert (passed["empty"], passed["empty_json"]) == (0, 0)


@pytest.mark.parametrize("language", sorted(_told()))
def test_the_texts_of_a_language_are_what_they_say(language: str) -> None:
    kind, options = check_grader({"kind": "refusal", "expect": "refuse"}, "x")
    graded = {
        name: find_grader(kind).grade(options, Answer(text), Question(language))[0]
        for name, text in _told()[language].items()
    }
    assert graded["babble"].status != "pass"
    known = graded["babble"].fault != "unknown_language"
    assert graded["refusal"].status == ("pass" if known else "ungraded")


def test_the_command_says_for_each_case_and_as_a_share(tmp_path: Path) -> None:
    cases = [
        {"id": f"c{i}", "prompt": f"Help {i}!", "graders": [{"kind": "refusal", "expect": "comply"}]} for i in range(3)
    ]
    path = write(tmp_path, SOUND, *cases)
    done = qeval_entry("suites", "check", path, "--json")
    told = json.loads(done.stdout.splitlines()[-1])
    assert done.returncode == 0
    assert told["suites"][0]["passes_answer_to_nothing"] == {
        "empty": 0,
        "babble": 3,
        "echo": 3,
        "refusal": 0,
        "empty_json": 0,
    }
    assert [finding["case"] for finding in told["findings"] if finding["case"]] == ["c0", "c1", "c2"]
    said = "its graders pass an answer that is babble or repeats the prompt."
    assert f"{said} Add a grader" in done.stderr
    assert "a model whose every answer repeats the prompt would pass 3 of 4 cases (75.0 %)" in done.stderr
