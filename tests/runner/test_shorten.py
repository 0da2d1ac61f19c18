"""What goes and what stays of a prompt that is too long, where its case allows to cut it (C27)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qeval.engines.base import Prompt
from qeval.rendering.renderer import PLAIN_RULES, Renderer
from qeval.runner.shorten import MARK, shorten
from qeval.suites.case import Case
from tests.engines import tokenizers_made_here as made

SYSTEM, QUESTION = "Be short.", "Who is quick?"
DOCUMENT = " ".join(f"Line {n} says so." for n in range(60))
LAST_LINE = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": f"{DOCUMENT}\n{QUESTION}"}]
LAST_TURN = [
    {"role": "system", "content": SYSTEM},
    {"role": "user", "content": DOCUMENT},
    {"role": "assistant", "content": "Read."},
    {"role": "user", "content": QUESTION},
]
TOOL_RESULT = [
    {"role": "user", "content": QUESTION},
    {"role": "assistant", "tool_calls": [{"name": "find", "arguments": {"q": "fox"}}]},
    {"role": "tool", "name": "find", "content": f"{DOCUMENT}\nend of results"},
]
TOKENIZER = made.make_tokenizer(made.WRITES_BOS)
RENDERER = Renderer(TOKENIZER, PLAIN_RULES, (1,), "</s>")


def render(case: Case) -> Prompt:
    rendered = RENDERER.render(case)
    return Prompt("s", case, rendered.token_ids, rendered.text)


def shortened(messages: list[dict[str, Any]], room: int) -> tuple[Prompt, Prompt]:
    case = Case(id="a", messages=messages, graders=[{"kind": "exact", "value": "x"}], truncate="middle")
    whole = render(case)
    return whole, shorten(whole, render, lambda prompt: len(prompt.token_ids) <= room)


@pytest.mark.parametrize("messages", [LAST_LINE, LAST_TURN, TOOL_RESULT], ids=["line", "turn", "tool"])
@pytest.mark.parametrize("room", [300, 301, 500, 900])
def test_c27_the_middle_goes_and_everything_else_stays(messages: list[dict[str, Any]], room: int) -> None:
    whole, short = shortened(messages, room)
    assert room - 2 <= len(short.token_ids) <= room
    assert short.cut_tokens == len(whole.token_ids) - len(short.token_ids)
    assert short.token_ids[0] == TOKENIZER.bos_token_id
    head, tail = short.text.split(MARK)
    assert whole.text.startswith(head)
    assert whole.text.endswith(tail)
    assert QUESTION in head + tail
    assert (SYSTEM in head) == any(message["role"] == "system" for message in messages)
    assert tail.endswith("assistant\n")


@pytest.mark.parametrize(
    ("messages", "room"),
    [
        (LAST_LINE, 40),
        (LAST_TURN, 60),
        ([{"role": "user", "content": "word " * 200}], 300),
        ([{"role": "user", "content": f"{QUESTION}\n" + "word " * 200}], 300),
    ],
    ids=["no room for the question", "no room for the turns", "nothing but a question", "a long question"],
)
def test_c27_a_prompt_whose_question_does_not_fit_stays_whole(messages: list[dict[str, Any]], room: int) -> None:
    whole, short = shortened(messages, room)
    assert short == whole


@settings(max_examples=15, deadline=None)
@given(room=st.integers(120, 1_300))
def test_c27_more_room_never_keeps_less(room: int) -> None:
    _, short = shortened(LAST_LINE, room)
    _, longer = shortened(LAST_LINE, room + 1)
    assert len(short.token_ids) <= len(longer.token_ids)
