"""Expectations that no answer can meet, or that every answer meets."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from qeval.grading import Answer, Question, check_grader
from qeval.grading.base import grade_answer
from qeval.suites.case import Case
from qeval.suites.lint.calls import call_flaws
from qeval.suites.lint.fields import field_flaws
from qeval.suites.lint.finding import Flaw
from qeval.suites.lint.golds import golds
from qeval.suites.question import question_of

_OF_KIND: dict[str, Callable[[Any, Question], Iterator[Flaw]]] = {"json_schema": field_flaws, "tool_call": call_flaws}
"""What is peculiar to a grader, by its name."""
_WHOLE = "exact"
"""The grader whose values are whole answers, so that all others must pass one of them."""
_FORBIDS = "not_contains"


def expectation_flaws(case: Case) -> Iterator[Flaw]:
    """Yield what is wrong with each grader's expectation, and graders that contradict each other."""
    question = question_of(case)
    checked = [check_grader(spec, f"case {case.id}") for spec in case.graders]
    for kind, options in checked:
        yield from _OF_KIND.get(kind, _none)(options, question)
    for place, (kind, options) in enumerate(checked):
        others = [one for other, one in enumerate(checked) if other != place and kind in {_WHOLE} | _only(one)]
        answers = golds(kind, options)
        for other_kind, other_options in others if answers else ():
            if not any(_passes(other_kind, other_options, text, question) for text in answers):
                yield Flaw(
                    "error",
                    f"no answer can pass both graders: what {kind} expects ({_quoted(answers[0])}) fails {other_kind}. "
                    "Correct one of the two.",
                )


def _none(_options: object, _question: Question) -> Iterator[Flaw]:
    return iter(())


def _only(grader: tuple[str, object]) -> set[str]:
    """Return the kinds whose values a grader must pass although more may stand around them."""
    return {"contains", "number", "json_schema", "tool_call"} if grader[0] == _FORBIDS else set()


def _passes(kind: str, options: Any, text: str, question: Question) -> bool:  # noqa: ANN401 - a grader's own type
    grades = grade_answer(kind, options, Answer(text), question)
    # What a grader cannot judge is no contradiction.
    return not any(grade.required and grade.status == "fail" for grade in grades)


def _quoted(text: str) -> str:
    return repr(text if len(text) <= 60 else f"{text[:60]}...")
