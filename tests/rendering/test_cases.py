"""Templates that lose something: another way shows it, or the conversation is refused with what is missing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from qeval.chat import Message, ToolCall
from qeval.rendering.choose import Chooser
from qeval.rendering.template import RefusedError, TooSlowError
from qeval.rendering.turns import Conversation
from tests.rendering.conversations import conversations, template_of

CASES = yaml.safe_load(Path(__file__).with_name("cases.yaml").read_text("utf-8"))


def exchanged() -> Conversation:
    """Two calls of one tool, whose results came the other way round."""
    calls = tuple(ToolCall(name="ask", arguments={"of": of}, id=of) for of in ("weather", "time"))
    asked = conversations()["tools"]
    messages = (
        *asked.messages,
        Message(role="assistant", tool_calls=calls),
        Message(role="tool", tool_call_id="time", content="13:05"),
        Message(role="tool", tool_call_id="weather", content="12 degrees"),
    )
    return Conversation(messages, asked.tools)


@pytest.mark.parametrize("row", CASES, ids=lambda row: row["name"])
def test_nothing_of_a_conversation_vanishes_unsaid(row: dict[str, Any]) -> None:
    known = {**conversations(), "two calls at once, results exchanged": exchanged()}
    chooser = Chooser(template_of(row["template"]))
    if "refused" in row:
        with pytest.raises(RefusedError) as refused:
            chooser.show(known[row["conversation"]])
        assert str(refused.value).startswith(row["refused"])
        return
    shown = chooser.show(known[row["conversation"]])
    assert str(shown.way) == row["way"]
    assert [text for text in row["shows"] if text not in shown.text] == []


def test_a_template_without_end_is_ended_and_no_other_way_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("qeval.rendering.template.LONGEST_S", 0.05)
    endless = "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}"
    with pytest.raises(TooSlowError, match=r"did not end within 0\.05 s"):
        Chooser(template_of(endless)).show(conversations()["two calls at once"])


def test_the_way_of_a_conversation_does_not_depend_on_what_was_shown_before() -> None:
    for row in CASES:
        if "way" in row and row["conversation"] in conversations():
            template = template_of(row["template"])
            used = Chooser(template)
            for other in conversations().values():
                try:
                    used.show(other)
                except RefusedError:
                    continue
            conversation = conversations()[row["conversation"]]
            assert used.show(conversation) == Chooser(template).show(conversation)
