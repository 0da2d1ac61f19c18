"""What `qeval suites check` finds in suites that load: each row of the data file, and nothing in the built-in ones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from qeval.compare.policy import Policy
from qeval.compare.suite_doubts import suite_doubts
from qeval.suites import list_suites, load_suite
from qeval.suites.lint import lint
from qeval.suites.load import load_placed
from tests.cli.job_files import qeval_entry, write_job

DOUBTFUL = yaml.safe_load(Path(__file__).with_name("doubtful_suites.yaml").read_text("utf-8"))
SOUND = {"id": "a", "prompt": "What is the capital?", "graders": [{"kind": "exact", "value": "Oslo"}]}


def write(folder: Path, *cases: dict[str, Any]) -> Path:
    path = folder / "mine.jsonl"
    path.write_text("".join(json.dumps({**SOUND, **case}) + "\n" for case in cases), encoding="utf-8")
    return path


@pytest.mark.parametrize("row", DOUBTFUL, ids=lambda row: row["name"])
def test_what_is_doubtful_is_named_with_its_place(row: dict[str, Any], tmp_path: Path) -> None:
    cases = row.get("cases") or [row["case"]]
    found = lint([load_placed(write(tmp_path, *cases))])
    assert len(found) == min(len(row["says"]), 1), found
    for finding in found:
        level, first, *more = row["says"]
        assert finding.level == level
        assert [part for part in (first, *more) if part not in finding.text] == []
        assert finding.where == f"{tmp_path / 'mine.jsonl'}, line {len(cases)}"
        assert finding.case == cases[-1].get("id", "a")


@pytest.mark.parametrize("name", [entry.name for entry in list_suites()])
def test_nothing_is_doubtful_about_the_built_in_suites(name: str) -> None:
    assert lint([load_placed(name, "standard")]) == []


def numbered(i: int) -> dict[str, Any]:
    return {"id": f"c{i}", "prompt": f"What is {i}?"}


def doubts(folder: Path, cases: list[dict[str, Any]], **policy: Any) -> list[str]:
    return list(suite_doubts([load_suite(write(folder, *cases))], Policy.model_validate(policy)))


def test_under_ten_clusters_are_too_few_and_said_once(tmp_path: Path) -> None:
    cases = [{**numbered(i), "cluster": f"d{i % 9}", "tags": {"lang": "de" if i < 40 else "fr"}} for i in range(50)]
    found = doubts(tmp_path, cases, required=["lang=fr"])
    assert [text.split(";")[0] for text in found] == [
        "all: 50 cases in 9 clusters",
        "all/lang=fr: 10 cases in 9 clusters",
    ]


def test_too_few_cases_for_a_margin_are_named_beside_those_it_takes(tmp_path: Path) -> None:
    cases = [numbered(i) for i in range(100)]
    (text,) = doubts(tmp_path, cases, margins={"pool": 0.05}, planning_flip_rate=0.10)
    assert text.startswith("all: 100 cases; to exclude a loss of 5.0 points it takes about 248 (where 10.0 % ")
    assert doubts(tmp_path, cases, margins={"pool": 0.10}) == []


def test_a_required_slice_without_cases_is_named(tmp_path: Path) -> None:
    found = doubts(tmp_path, [numbered(i) for i in range(30)], margins={"pool": 0.2}, required=["lang=de"])
    assert found == [
        "all/lang=de: the policy requires this slice, and no case is in it. Add cases, or correct its name."
    ]


def check(*arguments: object) -> tuple[int, Any, str]:
    done = qeval_entry("suites", "check", *arguments, "--json")
    return done.returncode, json.loads(done.stdout.splitlines()[-1]), done.stderr


def test_warnings_alone_end_with_0_and_the_policy_counts(tmp_path: Path) -> None:
    write_job(tmp_path, {}, n_cases=40)
    policy = tmp_path / "policy.yaml"
    policy.write_text("margins: {pool: 0.1}\nrequired: [continent=odd]\n")
    code, told, _ = check(tmp_path / "capitals")
    assert (code, [finding["level"] for finding in told["findings"]]) == (0, ["warning", "warning"])
    assert told["suites"][0]["cases"] == told["suites"][0]["clusters"] == 40
    code, told, _ = check(tmp_path / "capitals", "--policy", policy)
    said = ["near-equal prompts count as independent", "all", "all/continent=odd"]
    assert (code, [finding["text"].split(":")[0] for finding in told["findings"]]) == (0, said)


def test_an_error_ends_with_2_and_each_kind_is_printed_once(tmp_path: Path) -> None:
    tools = [{"name": "f"}]
    wrong = [{"kind": "tool_call", "calls": [{"name": "g"}]}]
    path = write(tmp_path, *({"id": f"c{i}", "prompt": f"{i}?", "tools": tools, "graders": wrong} for i in range(12)))
    code, told, printed = check(path)
    assert code == 2
    assert [finding["level"] for finding in told["findings"]].count("error") == 12
    lines = [line for line in printed.splitlines() if line.startswith("error")]
    assert len(lines) == 1
    assert lines[0].startswith(f"error: {path}, line 1, case 'c0': a call of 'g' is expected")
    assert lines[0].endswith("(11 more such cases)")
    assert "mine: 12 cases in 12 clusters, 12 errors, 0 warnings" in printed


def test_a_suite_that_does_not_load_is_one_json_error(tmp_path: Path) -> None:
    path = write(tmp_path, {"id": "a"}, {"id": "a"})
    code, told, _ = check(path)
    assert (code, told["exit_code"]) == (2, 2)
    assert "line 2: the id 'a' is already used at" in told["error"]
