"""Huge and twisted answers are graded without a crash; how fast is measured by scripts, not asserted here."""

from __future__ import annotations

from typing import Any

import pytest

from qeval.chat import Tool
from qeval.grading import Answer, Question, check_grader
from qeval.grading.base import find_grader
from tests.grading.test_properties import _GRADERS

_TEXTS = {
    "open brackets": "[" * 100_000,
    "closed brackets": "[" * 100_000 + "]" * 100_000,
    "nested objects": '{"a":' * 50_000,
    "digits": "9" * 5_000,
    "one long line": "word " * 50_000,
    "backticks": "`" * 50_000 + "a`",
    "fences": "```json\n" * 5_000,
    "open calls": "f(a=" * 5_000,
    "signs": "f(a=" + "-" * 15_000 + "1)",
    "commas": "1," * 40_000,
    "function tags": "<function=a><parameter=x>" * 2_000,
    "backslashes": '{"' + "\\" * 100_000,
    "many keys": "{" + ",".join(f'"k{i}":1' for i in range(10_000)) + ',"k9999":1}',
    "lone surrogates": "\ud83d" * 1_000,
    "half refusals": "i can't " * 10_000,
    "exponents": '{"a":1e999999999999}',
    "named marks": "[TOOL_CALLS]f{<｜tool▁call▁begin｜>f<｜tool▁sep｜>" * 3_000,
    "open invokes": '<invoke name="f"><parameter name="a">' * 2_000,
    "blanks after a key": "<tool_call>f<arg_key>" + " " * 100_000,
    "blanks in a fence": "<|tool_call_begin|>f:0<|tool_call_argument_begin|>```" + " " * 100_000,
    "units": "9万" * 20_000 + "9,999," * 10_000,
    "numerals": "一百零" * 15_000,
    "at signs": "a" * 50_000 + "@",
}
_TOOLS = (Tool(name="f", parameters={"type": "object", "properties": {"a": {"type": "integer"}}}),)


@pytest.mark.parametrize("name", _TEXTS)
@pytest.mark.parametrize("spec", _GRADERS, ids=lambda spec: spec["kind"])
def test_a_hostile_answer_is_graded(spec: dict[str, Any], name: str):
    kind, options = check_grader(spec, "x")
    graded = find_grader(kind).grade(options, Answer(_TEXTS[name]), Question("en", _TOOLS))
    assert all(grade.status in {"pass", "fail", "ungraded"} for grade in graded)
