"""The answer's number equals the expected one."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Literal

from pydantic import Field, field_validator

from qeval.grading._grades import failed, fault_of, no_text, passed
from qeval.grading._number_markup import boxed
from qeval.grading._numbers import LONGEST_READ, Number, read_numbers
from qeval.grading.base import Answer, Question
from qeval.outcome import Grade
from qeval.strict import Strict

METRIC = "number"
_LONGEST_SHOWN = 40
_LONGEST = 100_000
"""Digits of the longest number that a tolerance is applied to."""


class Options(Strict):
    """The expected number and which of the answer's numbers counts."""

    value: int | float | str
    """A number, or text in plain or English style such as "2,125" or "100%"."""
    tolerance: float = Field(default=0, ge=0)
    """Largest difference that still passes, in the number's own unit."""
    which: Literal["last", "first", "only"] = "last"
    """`only`: the answer may name no other number."""

    @field_validator("value", mode="before")
    @classmethod
    def _is_one_number(cls, value: object) -> object:
        if isinstance(value, bool):
            raise ValueError("true and false are no numbers")
        if isinstance(value, str) and len(read_numbers(value)) != 1:
            raise ValueError("give one number, as a number or as text such as '2,125' or '100%'")
        return value

    @property
    def expected(self) -> Number:
        """The expected number, exact as written."""
        return read_numbers(self.value)[0] if isinstance(self.value, str) else Number(Decimal(str(self.value)), False)


def grade(options: Options, answer: Answer, question: Question) -> tuple[Grade, ...]:
    """Pass where the chosen number of the answer equals the expected one."""
    if (empty := no_text(METRIC, answer)) is not None:
        return (empty,)
    part = answer.text[-LONGEST_READ:] if options.which == "last" else answer.text[:LONGEST_READ]
    numbers = _in_box(part, question.language) if options.which == "last" else []
    numbers = numbers or read_numbers(part, question.language)
    if not numbers:
        return (failed(METRIC, fault_of(answer, "no_number"), "there is no number in the answer"),)
    expected = options.expected
    if options.which == "only" and len({number.value for number in numbers}) > 1:
        reason = f"the answer names {len(numbers)} numbers where only one may stand"
        return (failed(METRIC, fault_of(answer, "several_numbers"), reason),)
    chosen = numbers[0 if options.which == "first" else -1]
    if equal(chosen.value, expected.value, options.tolerance):
        return (passed(METRIC),)
    reason = f"expected {_short(expected.value)}, got {_short(chosen.value)}"
    return (failed(METRIC, fault_of(answer, "wrong_number"), reason),)


def _in_box(text: str, language: str | None) -> list[Number]:
    """Return the numbers of the last LaTeX box, which marks a final answer whatever follows it."""
    content = boxed(text)
    return read_numbers(content, language) if content is not None else []


def equal(got: Decimal | Fraction, expected: Decimal | Fraction, tolerance: float = 0) -> bool:
    """Return whether two numbers differ by no more than the tolerance; nothing is rounded.

    >>> equal(Decimal("29.00"), Decimal(29)), equal(Decimal("3.15"), Decimal("3.14"), 0.01)
    (True, True)
    """
    if got == expected:
        return True
    if not tolerance or max(_power(got), _power(expected)) > _LONGEST:
        return False
    return abs(_exact(got) - _exact(expected)) <= Fraction(str(tolerance))


def _power(value: Decimal | Fraction) -> int:
    """Return about how many digits a number has before its point."""
    return value.adjusted() if isinstance(value, Decimal) and value else 0


def _exact(value: Decimal | Fraction) -> Fraction:
    """Return a number as a fraction, one that is next to nothing as nothing: writing it out would take for ever."""
    return Fraction(0) if _power(value) < -_LONGEST else Fraction(value)


def _short(value: Decimal | Fraction) -> str:
    spelt_out = isinstance(value, Decimal) and abs(_power(value)) <= _LONGEST_SHOWN
    text = f"{value:f}" if spelt_out else str(value)
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:20]}... ({len(text)} characters)"
