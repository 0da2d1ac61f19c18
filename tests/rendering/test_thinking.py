"""Switches of thinking are found by rendering, and what is asked for is done or refused."""

from __future__ import annotations

from typing import Any

import pytest

from qeval.errors import UsageError
from qeval.rendering.thinking import DEFAULT_TOKENS, Thinking, ThinkingRule, find_thinking
from tests.engines.tokenizers_made_here import CHATML
from tests.rendering.conversations import styles, template_of

SHAPES = {style["name"].partition(" (")[0]: style["template"] for style in styles()}
OPENS = CHATML.replace("assistant\n", "assistant\n<think>\n")
UNUSED = "{% set x = enable_thinking %}" + CHATML
BUDGET = "{% if thinking_budget is defined and thinking_budget == 0 %}NO{% endif %}" + CHATML
RAISES = (
    "{% if reasoning_effort is defined and reasoning_effort not in ['no_think', 'high'] %}{{ raise_exception('x') }}"
    "{% endif %}{{ reasoning_effort }}" + CHATML
)
QWEN, R1, GRANITE, OSS = SHAPES["Qwen 3"], SHAPES["DeepSeek R1"], SHAPES["Granite 3"], SHAPES["gpt-oss"]
FOUND: list[tuple[str, ThinkingRule | None, dict[str, Any], int | None]] = [
    (CHATML, None, {}, None),
    (CHATML, 300, {}, 300),
    (QWEN, None, {}, DEFAULT_TOKENS),
    (QWEN, "off", {"enable_thinking": False}, None),
    (QWEN, "on", {"enable_thinking": True}, DEFAULT_TOKENS),
    (QWEN, 45, {"enable_thinking": True}, 45),
    (R1, None, {}, DEFAULT_TOKENS),
    (R1, "on", {}, DEFAULT_TOKENS),
    (R1, 45, {}, 45),
    (OPENS, None, {}, DEFAULT_TOKENS),
    (GRANITE, None, {}, None),
    (GRANITE, "on", {"thinking": True}, DEFAULT_TOKENS),
    (GRANITE, "off", {"thinking": False}, None),
    (OSS, None, {}, DEFAULT_TOKENS),
    (OSS, "on", {"reasoning_effort": "medium"}, DEFAULT_TOKENS),
    (UNUSED, None, {}, None),
    (BUDGET, None, {}, DEFAULT_TOKENS),
    (BUDGET, "off", {"thinking_budget": 0}, None),
    (RAISES, "on", {"reasoning_effort": "high"}, DEFAULT_TOKENS),
    (RAISES, "off", {"reasoning_effort": "no_think"}, None),
]


@pytest.mark.parametrize(("template", "rule", "options", "tokens"), FOUND, ids=range(len(FOUND)))
def test_a_switch_is_set_as_asked_and_a_thought_has_its_limit(
    template: str, rule: ThinkingRule | None, options: dict[str, Any], tokens: int | None
) -> None:
    found = find_thinking(template_of(template), rule)
    assert (found.options, found.tokens) == (options, tokens)


@pytest.mark.parametrize(
    ("template", "rule", "said"),
    [
        (CHATML, "off", "it has none of enable_thinking, thinking"),
        (CHATML, "on", "it has none of enable_thinking, thinking"),
        (UNUSED, "off", "it has none of"),
        (R1, "off", "it has none of"),
        (OSS, "off", "its switch 'reasoning_effort' does not do that"),
        (None, "on", "it has none of"),
    ],
)
def test_what_the_template_cannot_do_is_refused(template: str | None, rule: ThinkingRule, said: str) -> None:
    with pytest.raises(UsageError, match=rf"thinking {rule}: the model's chat template has no switch for it \({said}"):
        find_thinking(template_of(template), rule)


def test_what_is_done_is_said() -> None:
    assert find_thinking(template_of(QWEN), "off").said == "off (enable_thinking=False)"
    assert find_thinking(template_of(QWEN), None).said == "on, as the template does where enable_thinking is not set"
    assert find_thinking(template_of(R1), None).said == "on: the template opens a thought"
    assert find_thinking(template_of(CHATML), None) == Thinking({}, None, None)
