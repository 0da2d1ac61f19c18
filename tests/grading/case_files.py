"""Reads the data files of grader cases and grades one row."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from qeval.chat import Tool, ToolCall
from qeval.grading import Question, grade_outcome, grader_kinds
from qeval.jsonl import dumps, read_lines
from qeval.outcome import Grade, Outcome

FOLDER = Path(__file__).parent / "cases"
SHARED = Path(__file__).parents[3] / "shared"
"""Public labelled data beside the checkout, where there is any."""
_LONGEST_EXAMPLE = 400
"""Of a grader as JSON, in characters; some rows hold huge options on purpose."""


def rows(kind: str) -> list[dict[str, Any]]:
    """Return the rows of one kind: of its file, and of the files in its folder where it has one."""
    files = [FOLDER / f"{kind}.jsonl", *sorted((FOLDER / kind).glob("*.jsonl"))]
    return [line.value for file in files if file.exists() for line in read_lines(file)]


def example_graders() -> list[dict[str, Any]]:
    """Return a grader of every kind there is: of each, the one of its rows that says most.

    From the folder of graders and their files of cases, so that a new grader is tried without being named here.
    """
    return [max(_examples(kind), key=lambda spec: (len(spec), *_size(spec))) for kind in grader_kinds()]


def plain_graders() -> list[dict[str, Any]]:
    """Return a grader of every kind there is: of each, the one of its rows that says least."""
    return [min(_examples(kind), key=_size) for kind in grader_kinds()]


def _size(spec: dict[str, Any]) -> tuple[int, str]:
    text = dumps(spec)
    return len(text), text


def _examples(kind: str) -> list[dict[str, Any]]:
    specs = [row["grader"] for row in rows(kind) if "expect" in row]
    return [spec for spec in specs if len(dumps(spec)) <= _LONGEST_EXAMPLE]


def grades(row: dict[str, Any]) -> dict[str, Grade]:
    """Grade a row as an outcome is graded and return its grades by metric."""
    calls = tuple(ToolCall(**call) for call in row["tool_calls"]) if "tool_calls" in row else None
    outcome = Outcome(
        suite="s",
        case="c",
        batch=0,
        status="answered",
        text=row["text"],
        special=row.get("special"),
        opened=row.get("opened"),
        tool_calls=calls,
        finish=row.get("finish"),
        failure=row.get("failure"),
    )
    graded = grade_outcome(outcome, [row["grader"]], question_of_row(row))
    return {grade.metric: grade for grade in graded.grades}


def question_of_row(row: dict[str, Any]) -> Question:
    """Return what a row tells its grader of the case."""
    tools = tuple(Tool(**tool) for tool in row.get("tools", ()))
    return Question(row.get("language"), tools, row.get("prompt"))


def named(grade: Grade) -> str:
    """Return a grade as the case files write it: `pass`, the class of a fail, or `ungraded:CLASS`."""
    if grade.status == "pass":
        return "pass"
    return f"ungraded:{grade.fault}" if grade.status == "ungraded" else str(grade.fault)
