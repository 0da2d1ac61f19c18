"""A model that thinks: its thought has a limit of its own, decoded plainly and replayed alike."""

from __future__ import annotations

import pytest

from qeval.engines.base import Answer, Generation, Prompt, Reading
from qeval.engines.transformers import TransformersEngine
from qeval.rendering.renderer import Rules
from qeval.suites.case import Case
from tests.engines.chained_model import chained_model
from tests.engines.test_limits import OPENED
from tests.engines.test_transformers import quiet
from tests.engines.tokenizers_made_here import CHATML, make_tokenizer
from tests.rendering.conversations import DAY

THOUGHT, ANSWER = 20, 5
OPENS = CHATML.replace("assistant\n", "assistant\n<think>\n")


def engine() -> TransformersEngine:
    model = chained_model("S<", "UVU", "abcdefgq</think>XYZX")
    return TransformersEngine(model, make_tokenizer(OPENS), "cpu", rules=Rules(DAY, THOUGHT))


def prompts() -> list[Prompt]:
    tokenizer = make_tokenizer(OPENS)
    found = []
    for first in ("a", "U", "S"):
        case = Case(
            id=first,
            messages=({"role": "user", "content": "Q"},),
            graders=({"kind": "contains", "value": "X"},),
            max_new_tokens=ANSWER,
        )
        text = OPENED + first
        ids = tuple(tokenizer(text, add_special_tokens=False)["input_ids"])
        found.append(Prompt("s", case, ids, OPENED, thought_tokens=THOUGHT))
    return found


def answers(on_read=None) -> list[Generation]:
    return engine().answer(prompts(), quiet, on_read)


def test_the_answers_limit_counts_from_where_the_thought_closed() -> None:
    closes, endless, at_once = answers()
    assert closes.text == "bcdefgq</think>XYZXY"
    assert at_once.text == "</think>XYZXY"
    assert {closes.failure, at_once.failure} == {"truncated"}
    assert (endless.text, endless.finish, endless.failure) == ("VU" * (THOUGHT // 2), "length", "truncated")


@pytest.mark.parametrize("kept", [0, 3, 9, 14, 18])
def test_replay_keeps_to_the_same_limits(kept: int) -> None:
    plain = answers()

    def on_read(reading: Reading) -> list[Generation]:
        reading.follow([Answer((*one.token_ids[:kept], 200), ended=False) for one in plain])
        return reading.replay(quiet)

    assert answers(on_read) == plain


def test_a_prompt_says_what_may_be_generated_in_all() -> None:
    case = prompts()[0].case
    rendered = engine().render("s", case)
    assert (rendered.thought_tokens, rendered.max_tokens) == (THOUGHT, THOUGHT + ANSWER)
    assert rendered.opened == "<think>"
