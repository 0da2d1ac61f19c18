"""What of a text is the answer, what was thought, and whether a prompt opened a thought."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qeval.jsonl import read_lines
from qeval.marks import opened_by, split_said

_HERE = Path(__file__).parent
_ROWS = [line.value for line in read_lines(_HERE / "marks.jsonl")]
_PROMPTS = [line.value for line in read_lines(_HERE / "opened.jsonl")]
_PLAIN = st.text(st.characters(exclude_characters="<>[]{}`|◁▷()", exclude_categories=["Cs", "Cc", "Z"]), min_size=1)


@pytest.mark.parametrize("row", _ROWS, ids=lambda row: row["id"])
def test_thought_and_answer_are_told_apart(row: dict[str, Any]):
    said = split_said(row["text"], row["opened"], row["special"])
    assert said == (row["answer"], row["thought"], row["cut_short"])


@pytest.mark.parametrize("row", _PROMPTS, ids=lambda row: repr(row["prompt"]))
def test_a_prompt_opens_a_thought_or_none(row: dict[str, str]):
    assert opened_by(row["prompt"]) == row["opened"]


_PAIRS = [row for row in _ROWS if row["id"].startswith("a thought in ") and "words" not in row["id"]]


@given(thought=_PLAIN, answer=_PLAIN)
@pytest.mark.parametrize("row", _PAIRS, ids=lambda row: row["id"])
def test_any_thought_comes_off_any_answer(row: dict[str, Any], thought: str, answer: str):
    begin, _, rest = row["text"].partition("41?")
    close = rest.removesuffix("It is 42.")
    said = split_said(f"{begin}{thought}{close}{answer}")
    assert (said.answer.strip(), said.thought) == (answer.strip(), thought.strip())
    assert split_said(f"{thought}{close}{answer}", begin.strip()) == said
