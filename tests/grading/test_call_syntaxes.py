"""Every syntax of the table has cases; a call is the same whichever of its marks are special tokens, cut or not."""

from __future__ import annotations

from typing import Any

import pytest
import regex

from qeval.grading._call_syntaxes import syntaxes
from qeval.jsonl import read_lines
from tests.grading.case_files import FOLDER, grades, named

_ROWS: list[dict[str, Any]] = [line.value for line in read_lines(FOLDER / "tool_call/syntaxes.jsonl")]
_MARK = regex.compile(r"\]<\]minimax\[>\[|</?[^<>\n]+>|\[/?[A-Z_]+\]|✿\w+✿|<\|\"\|>")


def _no_call_expected(row: dict[str, Any], **changes: Any) -> str:
    return named(grades({**row, "grader": {"kind": "tool_call", "calls": []}, **changes})["tool_call"])


def test_every_syntax_and_every_opening_mark_has_a_case():
    assert {entry.name for entry in syntaxes()} == {row["syntax"] for row in _ROWS}
    texts = "\n".join(row["text"] for row in _ROWS).lower()
    assert [mark for entry in syntaxes() for mark in entry.opens if mark.lower() not in texts] == []


@pytest.mark.parametrize("row", _ROWS, ids=lambda row: row["id"])
def test_a_call_is_the_same_where_its_marks_are_special(row: dict[str, Any]):
    special = list(dict.fromkeys(_MARK.findall(row["text"])))
    assert named(grades({**row, "special": special})["tool_call"]) == "pass"
    assert _no_call_expected(row, special=special) == "extra_call"


@pytest.mark.parametrize("entry", syntaxes(), ids=lambda entry: entry.name)
def test_a_call_cut_behind_its_mark_is_never_text(entry: Any):
    row = next(row for row in _ROWS if row["syntax"] == entry.name)
    text = row["text"]
    ends = [text.lower().find(mark.lower()) + len(mark) for mark in entry.opens if mark.lower() in text.lower()]
    first = min(ends) if ends else len(text) * 2 // 3
    cut = [text[:end] for end in range(first, len(text))]
    assert [part for part in cut if _no_call_expected(row, text=part, finish="length") == "pass"] == []
