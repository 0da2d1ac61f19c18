"""The answer matches a regular expression."""

from __future__ import annotations

import unicodedata
from typing import Self

import regex
from pydantic import Field, model_validator

from qeval.grading._grades import failed, fault_of, no_text, passed, shown, ungraded
from qeval.grading.base import Answer, Question
from qeval.outcome import Grade
from qeval.strict import Strict

METRIC = "regex"
TIMEOUT_S = 1.0
"""Longest time one search may take: a pattern that backtracks without end must not hold up a run."""


class Options(Strict):
    """A pattern in the syntax of the `regex` package, matched against the answer in NFC."""

    pattern: str = Field(min_length=1)
    full: bool = False
    """Whether the whole answer (without blanks around it) must match, not a part of it."""
    ignore_case: bool = False

    @model_validator(mode="after")
    def _is_usable(self) -> Self:
        try:
            compiled = self.compiled
        except regex.error as error:
            raise ValueError(f"the pattern is no regular expression: {error}") from error
        if not self.pattern.strip() or (not self.full and compiled.fullmatch("") is not None):
            raise ValueError(f"the pattern {self.pattern!r} matches an empty text, so it matches every answer")
        return self

    @property
    def compiled(self) -> regex.Pattern[str]:
        """The pattern, compiled (the package caches it)."""
        flags = regex.IGNORECASE | regex.FULLCASE if self.ignore_case else 0
        return regex.compile(unicodedata.normalize("NFC", self.pattern), flags)


def grade(options: Options, answer: Answer, question: Question) -> tuple[Grade, ...]:
    """Pass where the pattern matches; a search that runs out of time is ungraded."""
    if (empty := no_text(METRIC, answer)) is not None:
        return (empty,)
    text = unicodedata.normalize("NFC", answer.text)
    pattern = options.compiled
    try:
        if options.full:
            found = pattern.fullmatch(text.strip(), timeout=TIMEOUT_S)
        else:
            found = pattern.search(text, timeout=TIMEOUT_S)
    except TimeoutError:
        return (ungraded(METRIC, "grader_timeout", f"the pattern took longer than {TIMEOUT_S} s on this answer"),)
    if found:
        return (passed(METRIC),)
    return (failed(METRIC, fault_of(answer, "no_match"), f"no match for {shown(options.pattern)}"),)
