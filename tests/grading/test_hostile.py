"""Huge and twisted answers are graded without a crash; how fast is measured by scripts, not asserted here."""

from __future__ import annotations

from typing import Any

import pytest

from qeval.chat import Tool
from qeval.grading import Answer, Question, check_grader
from qeval.grading.base import find_grader
from qeval.jsonl import dumps
from qeval.marks import split_said
from tests.grading.case_files import example_graders
from tests.grading.hostile import TEXTS

_TOOLS = (Tool(name="f", parameters={"type": "object", "properties": {"a": {"type": "integer"}}}),)


@pytest.mark.parametrize("name", TEXTS)
def test_thinking_is_taken_off_a_hostile_answer(name: str):
    text = TEXTS[name]
    for whole in (f"<think>{text}", f"{text}</think>", f"<think>a</think>{text}", f"[THINK]{text}[/THINK]{text}"):
        assert split_said(whole).answer in whole


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("spec", example_graders(), ids=dumps)
def test_a_hostile_answer_is_graded(spec: dict[str, Any], name: str):
    kind, options = check_grader(spec, "x")
    graded = find_grader(kind).grade(options, Answer(TEXTS[name]), Question("en", _TOOLS))
    assert all(grade.status in {"pass", "fail", "ungraded"} for grade in graded)
