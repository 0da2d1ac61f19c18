"""Texts that repeat much, for tests and for the tables in docs/graders.md: broken ones, and sound ones."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

from qeval.grading import Question, grade_outcome
from qeval.jsonl import read_lines
from qeval.outcome import Outcome

FOLDER = Path(__file__).parent / "degenerate"
NEVER_SAID = {"kind": "not_contains", "value": "zyzzyva"}
"""A grader that all texts pass, broken ones too."""

IN_THE_RULE = {"loop", "stammer"}
"""Kinds of the embedded model's answers that the rule is about. Word salad, loops that change as they go and loops with
other text after them are not, nor is what is sound; which is which was told by reading."""


Name = Literal["sound", "broken", "embedded_model", "grades"]


def read(name: Name) -> Iterator[dict[str, Any]]:
    """Yield the rows of a file: `id`, `kind`, `lang`, `text`, and where it matters `finish`, `grader`, `prompt`.

    A text that is long and all alike is written as `parts`, pairs of a text and how often it stands there.
    """
    for line in read_lines(FOLDER / f"{name}.jsonl"):
        row = line.value
        if "parts" in row:
            row["text"] = "".join(text * count for text, count in row["parts"])
        yield row


def graded(row: dict[str, Any]) -> Outcome:
    """Return a row's text as a graded outcome."""
    outcome = Outcome(suite="s", case="c", batch=0, status="answered", text=row["text"], finish=row.get("finish"))
    return grade_outcome(outcome, [row.get("grader", NEVER_SAID)], Question(row["lang"], prompt=row.get("prompt")))


def is_degenerate(row: dict[str, Any]) -> bool:
    """Whether qeval says so of a row's text."""
    return graded(row).failure == "degenerate"
