"""What counts as found in a prompt: the same text in any way of writing, and nothing else."""

from __future__ import annotations

import html
import json
from collections.abc import Callable

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from qeval.chat import Message, ToolCall
from qeval.rendering.present import Prompt, missing
from qeval.rendering.turns import Conversation

PIECES = st.one_of(
    st.characters(exclude_categories=["Cs"]),
    st.sampled_from("\\\"'nrtu&<>{}\n\r\t `"),
    st.sampled_from(["\\n", "&amp;", "\\u00e9", "C:\\new", "\\\\"]),
)
TEXTS = st.lists(PIECES, min_size=1, max_size=30).map("".join)
WRITINGS: dict[str, Callable[[str], str]] = {
    "as it is": str,
    "trimmed": str.strip,
    "as JSON": lambda text: json.dumps(text, ensure_ascii=False),
    "as JSON in ASCII": json.dumps,
    "as JSON twice": lambda text: json.dumps(json.dumps(text, ensure_ascii=False), ensure_ascii=False),
    "as Python": repr,
    "as an object in Python": lambda text: str({"a": [text]}),
    "as HTML": html.escape,
    "as old JSON for HTML": lambda text: json.dumps(text).replace("<", "\\u003c").replace("&", "\\u0026"),
    "indented": lambda text: text.replace("\n", "\n    "),
    "in one line": lambda text: " ".join(text.split()),
}


@pytest.mark.parametrize("writing", WRITINGS)
@given(
    text=TEXTS,
    before=st.sampled_from(["", "<tool>", "Q: ", '{"a": ']),
    after=st.sampled_from(["", "</tool>", " A:", "}"]),
)
def test_a_text_is_found_however_it_is_written(writing: str, text: str, before: str, after: str) -> None:
    assert Prompt(f"{before}{WRITINGS[writing](text)}{after}").holds(text)


@given(text=st.text(st.sampled_from("abcdefgh "), min_size=6, max_size=30), cut=st.integers(1, 5))
def test_a_text_that_was_cut_is_not_found(text: str, cut: int) -> None:
    assume(text.strip() == text and " " not in text[-cut:])
    assert not Prompt(f"<user>{text[:-cut]}<end>").holds(text)


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (3, "3"),
        (0.25, "0.25"),
        (True, "True"),
        (True, "true"),
        (False, "false"),
        (1e30, "1e+30"),
        (-7, "days=-7)"),
        (None, ""),
    ],
)
def test_a_scalar_is_found_as_json_or_python_write_it(value: object, written: str) -> None:
    assert Prompt(f"({written})").holds_value(value)


def test_what_is_missing_is_named_in_its_order_with_its_place() -> None:
    call = ToolCall(name="get_time", arguments={"zone": "Oslo", "more": {"at": [1, 20]}})
    messages = (
        Message(role="user", content="When?"),
        Message(role="assistant", content="I look.", tool_calls=(call,)),
        Message(role="tool", content="13:05"),
        Message(role="user", content="Why?"),
    )
    assert missing(Conversation(messages), "When? get_time zone 20 Why") == (
        "the text of message 2 (assistant)",
        "the value of 'zone' of the call of 'get_time' in message 2",
        "the argument 'more' of the call of 'get_time' in message 2",
        "the argument 'more.at' of the call of 'get_time' in message 2",
        "the value of 'more.at[0]' of the call of 'get_time' in message 2",
        "the result of 'get_time' in message 3",
        "the text of message 4 (user)",
    )


@pytest.mark.parametrize("shown", ["<think>so</think>42", "42"])
def test_an_earlier_thought_may_be_kept_or_dropped(shown: str) -> None:
    said = Message(role="assistant", content="<think>so</think>42")
    messages = (Message(role="user", content="Q"), said, Message(role="user", content="Q"))
    assert missing(Conversation(messages), f"Q {shown} Q") == ()
    assert missing(Conversation(messages), "Q Q") == ("the text of message 2 (assistant)",)


def test_words_that_switch_thinking_are_not_looked_for() -> None:
    rules = (Message(role="system", content="Be brief. /no_think"), Message(role="user", content="Q"))
    assert missing(Conversation(rules), "Be brief. Q") == ()
