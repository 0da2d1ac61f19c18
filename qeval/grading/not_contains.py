"""The answer holds none of the forbidden values."""

from __future__ import annotations

from qeval.grading._grades import failed, no_words, passed, shown
from qeval.grading._search import missing_values
from qeval.grading._values import Wanted
from qeval.grading.base import Answer, Question
from qeval.outcome import Grade

METRIC = "not_contains"


class Options(Wanted):
    """Values that must not stand in the answer."""


def grade(options: Options, answer: Answer, question: Question) -> tuple[Grade, ...]:
    """Fail where the answer holds a value; an empty answer says nothing and fails too."""
    if (empty := no_words(METRIC, answer)) is not None:
        return (empty,)
    missing = missing_values(answer.text, options.wanted, question.language)
    held = [value for value in options.wanted if value not in missing]
    if not held:
        return (passed(METRIC),)
    reason = "the answer holds " + ", ".join(shown(value) for value in held[:5])
    return (failed(METRIC, "forbidden_value", reason),)
