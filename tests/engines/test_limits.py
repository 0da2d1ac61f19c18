"""The limit of a row: its answer's own, counted from where a thought closed; a thought has another."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qeval.engines.base import Prompt
from qeval.engines.detokenize import Detokenizer
from qeval.engines.limits import Limit
from qeval.suites.case import Case
from tests.engines.tokenizers_made_here import CHATML, make_tokenizer

TOKENIZER = make_tokenizer(CHATML)
WORDS = Detokenizer(TOKENIZER)
CASE = Case(id="c", messages=({"role": "user", "content": "Q"},), graders=({"kind": "contains", "value": "x"},))
OPENED, PLAIN = "<|im_start|>assistant\n<think>\n", "<|im_start|>assistant\n"
ANSWER = 10
ANALYSIS = "<|channel|>analysis<|message|>Let me see"
FINAL = "<|end|><|start|>assistant<|channel|>final<|message|>"


def limit(prompt: str, thought: int) -> Limit:
    case = CASE.model_copy(update={"max_new_tokens": ANSWER})
    return Limit(Prompt("s", case, (1,), prompt, thought_tokens=thought), WORDS)


def tokens_of(text: str) -> list[int]:
    """Return one token a byte."""
    return list(TOKENIZER(text, add_special_tokens=False)["input_ids"])


CASES = [
    ("no thought is expected", PLAIN, 0, "<think>well", ANSWER),
    ("no thought is begun", PLAIN, 50, "Oslo", ANSWER),
    ("nothing is said yet", PLAIN, 50, "", 50),
    ("an opening mark may follow", PLAIN, 50, " <thi", 50),
    ("a thought is begun", PLAIN, 50, "<think>well", 50),
    ("a thought is closed", PLAIN, 50, "<think>well</think>42", len("<think>well</think>") + ANSWER),
    ("the prompt opened a thought", OPENED, 50, "well", 50),
    ("the prompt's thought is closed", OPENED, 50, "well</think>", len("well</think>") + ANSWER),
    ("closed by its last token", OPENED, 12, "well</think>", 12 + ANSWER),
    ("a second mark does not count", OPENED, 50, "a</think>b</think>", len("a</think>") + ANSWER),
    ("a thought shorter than the answer", PLAIN, 4, "", ANSWER),
    ("a thought of another kind", PLAIN, 90, "[THINK]a</think>b[/THINK]", len("[THINK]a</think>b[/THINK]") + ANSWER),
    ("a thought in words", PLAIN, 90, "Here is my thought process: a", 90),
    ("a thought in a channel", PLAIN, 90, ANALYSIS, 90),
    ("its channel is left", PLAIN, 90, ANALYSIS + FINAL, len(ANALYSIS + FINAL) + ANSWER),
]


@pytest.mark.parametrize(
    ("prompt", "thought", "said", "expected"), [row[1:] for row in CASES], ids=[row[0] for row in CASES]
)
def test_the_limit_follows_the_thought(prompt: str, thought: int, said: str, expected: int) -> None:
    assert limit(prompt, thought).at(tokens_of(said)) == expected


@given(said=st.lists(st.sampled_from(["a", "é", "<", "think>", "</think>", "<think>", " "]), max_size=30).map("".join))
def test_asking_at_every_token_says_the_same_as_asking_once(said: str) -> None:
    growing = limit(OPENED, 60)
    tokens = tokens_of(said)
    for n in range(len(tokens) + 1):
        assert growing.at(tokens[:n]) == limit(OPENED, 60).at(tokens[:n])


def test_a_long_thought_in_a_channel_is_no_answer() -> None:
    growing = limit(PLAIN, 2000)
    tokens = tokens_of(ANALYSIS + "x" * 600)
    assert {growing.at(tokens[:n]) for n in range(len(ANALYSIS), len(tokens))} == {2000}


def test_a_row_that_was_begun_is_read_from_its_start() -> None:
    begun = limit(OPENED, 600)
    assert begun.at(tokens_of("well</think>" + "x" * 400)) == len("well</think>") + ANSWER
