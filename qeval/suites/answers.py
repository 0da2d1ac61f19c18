"""Answers graded without a model: one text, or a file with many."""

from __future__ import annotations

from pathlib import Path

from pydantic import model_validator

from qeval.chat import ToolCall
from qeval.errors import UsageError
from qeval.grading import grade_outcome
from qeval.jsonl import read_lines
from qeval.outcome import Finish, Outcome
from qeval.strict import Strict, validate
from qeval.suites.case import Case, Size
from qeval.suites.lookup import Cases, FoundCase
from qeval.suites.question import question_of


class AnswerLine(Strict):
    """A line of a file of answers: which case, and what was answered."""

    case: str
    """`SUITE/CASE-ID` or a `.json` file with a case; the id alone where `suite` is given."""
    suite: str | None = None
    """A built-in suite, a folder or a `.jsonl` file."""
    text: str = ""
    tool_calls: tuple[ToolCall, ...] | None = None
    """Calls that an engine returned apart from the text."""
    finish: Finish | None = None

    @model_validator(mode="after")
    def _holds_an_answer(self) -> AnswerLine:
        if not {"text", "tool_calls"} & self.model_fields_set:
            raise ValueError("give 'text' or 'tool_calls'; an empty answer is written \"text\": \"\"")
        return self


def grade_case(outcome: Outcome, case: Case) -> Outcome:
    """Return the outcome with the grades of its case's graders."""
    return grade_outcome(outcome, case.graders, question_of(case))


def grade_text(found: FoundCase, text: str) -> Outcome:
    """Grade a text as the answer to a case."""
    return grade_case(_outcome(found, AnswerLine(case=found.case.id, text=text)), found.case)


def grade_file(path: Path, size: Size) -> list[Outcome]:
    """Grade a JSON Lines file of answers, each line an `AnswerLine`, in its order.

    Args:
        path: the file.
        size: at which suites are loaded.

    Raises:
        UsageError: the file is unreadable or empty, or a line is faulty or names no case; the message names the line.
    """
    cases = Cases(size)
    graded = []
    for line in read_lines(path):
        where = f"{path}, line {line.number}"
        answer = validate(AnswerLine, line.value, where)
        try:
            found = cases.find(answer.case) if answer.suite is None else cases.find_in(answer.suite, answer.case)
        except UsageError as error:
            raise UsageError(f"{where}: {error}") from error
        graded.append(grade_case(_outcome(found, answer), found.case))
    if not graded:
        raise UsageError(f'{path}: holds no answer. A line is {{"case": "SUITE/CASE-ID", "text": "..."}}.')
    return graded


def _outcome(found: FoundCase, answer: AnswerLine) -> Outcome:
    return Outcome(
        suite=found.suite,
        case=found.case.id,
        batch=0,
        status="answered",
        text=answer.text,
        tool_calls=answer.tool_calls,
        finish=answer.finish,
    )
