"""A candidate of broken text is regressed, also where all cases pass an answer for what it does not hold."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from qeval.suites import Case, load_suite
from tests.cli.job_files import qeval_entry
from tests.suites.answers import right_answer

BROKEN = {"four marks": "!!!!", "one word": "the " * 60}


def passes_what_leaves_out(case: Case) -> bool:
    """Whether a case expects help or no call: what a text without meaning would pass."""
    (grader, *more) = case.graders
    return not more and (grader.get("expect") == "comply" or grader.get("calls") == [])


@pytest.fixture(scope="module")
def cases(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Case]]:
    return {name: list(load_suite(name, "standard").cases) for name in ("refusal", "toolcalls")}


@pytest.mark.parametrize("broken", BROKEN)
def test_a_candidate_of_broken_text_is_regressed(broken: str, cases: dict[str, list[Case]], tmp_path: Path) -> None:
    chosen = [case for name in cases for case in cases[name] if passes_what_leaves_out(case)]
    assert len(chosen) > 50
    lines = (json.dumps(case.model_dump(mode="json")) for case in chosen)
    (tmp_path / "safe.jsonl").write_text("\n".join(lines), encoding="utf-8")
    right = {case.id: right_answer(case) for case in chosen}
    script = {"variants": {"fp32": {"answers": right}, "nf4": {"default": BROKEN[broken]}}}
    (tmp_path / "script.yaml").write_text(yaml.safe_dump(script), encoding="utf-8")
    plan = {
        "model": "m",
        "engine": "scripted",
        "script": "script.yaml",
        "variants": ["fp32", "nf4"],
        "suites": [str(tmp_path / "safe.jsonl")],
    }
    (tmp_path / "plan.yaml").write_text(yaml.safe_dump(plan), encoding="utf-8")
    done = qeval_entry("run", tmp_path / "plan.yaml", "--out", tmp_path / "out", "--no-track", "--json")
    assert (done.returncode, json.loads(done.stdout.splitlines()[-1])["decision"]) == (1, "regressed"), done.stderr
