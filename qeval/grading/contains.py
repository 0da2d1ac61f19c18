"""The answer holds the expected values."""

from __future__ import annotations

from pydantic import Field

from qeval.grading._grades import failed, fault_of, no_text, passed, shown
from qeval.grading._search import missing_values
from qeval.grading._values import Wanted
from qeval.grading.base import Answer, Question
from qeval.outcome import Grade

METRIC = "contains"


class Options(Wanted):
    """All of the values, or any."""

    all_: bool = Field(default=True, alias="all")


def grade(options: Options, answer: Answer, question: Question) -> tuple[Grade, ...]:
    """Pass where the answer holds all values (or any); the score is the share found."""
    if (empty := no_text(METRIC, answer)) is not None:
        return (empty,)
    missing = missing_values(answer.text, options.wanted, question.language)
    share = 1 - len(missing) / len(options.wanted)
    if not missing or (not options.all_ and share > 0):
        return (passed(METRIC, score=share if options.all_ else 1.0),)
    reason = "the answer does not hold " + ", ".join(shown(value) for value in missing[:5])
    return (failed(METRIC, fault_of(answer, "missing_value"), reason, score=share if options.all_ else 0.0),)
