"""The answer matches a regular expression."""

from __future__ import annotations

import unicodedata
from functools import lru_cache
from typing import Self

import regex
from pydantic import Field, model_validator

from qeval.grading._budget import Budget, OverBudgetError, current_budget
from qeval.grading._grades import failed, fault_of, no_text, passed, shown
from qeval.grading._patterns import compile_pattern
from qeval.grading.base import Answer, Question
from qeval.outcome import Grade
from qeval.strict import Strict

METRIC = "regex"


class Options(Strict):
    """A pattern in the syntax of the `regex` package, matched against the answer in NFC."""

    pattern: str = Field(min_length=1)
    full: bool = False
    """Whether the whole answer (without blanks around it) must match, not a part of it."""
    ignore_case: bool = False

    @model_validator(mode="after")
    def _is_usable(self) -> Self:
        compiled = self.compiled
        try:
            matches_nothing = not self.full and Budget().search(compiled, "", full=True)
        except OverBudgetError as error:
            raise ValueError(f"the pattern {self.pattern!r} takes too long on an empty text") from error
        if not self.pattern.strip() or matches_nothing:
            raise ValueError(f"the pattern {self.pattern!r} matches an empty text, so it matches every answer")
        return self

    @property
    def compiled(self) -> regex.Pattern[str]:
        """The pattern, compiled."""
        flags = regex.IGNORECASE | regex.FULLCASE if self.ignore_case else 0
        return _compiled(unicodedata.normalize("NFC", self.pattern), flags)


_compiled = lru_cache(maxsize=256)(compile_pattern)


def grade(options: Options, answer: Answer, question: Question) -> tuple[Grade, ...]:
    """Pass where the pattern matches."""
    if (empty := no_text(METRIC, answer)) is not None:
        return (empty,)
    text = unicodedata.normalize("NFC", answer.text)
    if current_budget().search(options.compiled, text.strip() if options.full else text, full=options.full):
        return (passed(METRIC),)
    return (failed(METRIC, fault_of(answer, "no_match"), f"no match for {shown(options.pattern)}"),)
