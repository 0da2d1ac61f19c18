"""The whole answer equals an expected value."""

from __future__ import annotations

from collections import Counter
from typing import Literal

from qeval.grading._grades import failed, fault_of, no_text, passed, shown
from qeval.grading._spelling import alike, plain_form
from qeval.grading._text import answer_form, base_language, tokens
from qeval.grading._values import Wanted
from qeval.grading.base import Answer, Question
from qeval.outcome import Grade

METRIC = "exact"


class Options(Wanted):
    """One of the values, compared in normal form or code point by code point."""

    mode: Literal["normalised", "strict"] = "normalised"
    """`strict` compares code points; only blanks around the answer are dropped."""


def grade(options: Options, answer: Answer, question: Question) -> tuple[Grade, ...]:
    """Pass where the answer is one of the values; the score is the best token F1."""
    if (empty := no_text(METRIC, answer)) is not None:
        return (empty,)
    language = question.language
    if options.mode == "strict":
        found = answer.text.strip() in {value.strip() for value in options.wanted}
        score = float(found)
    else:
        form = answer_form(answer.text, language)
        found = any(alike(form, answer_form(value, language), base_language(language)) for value in options.wanted)
        score = 1.0 if found else max(token_f1(answer.text, value, language) for value in options.wanted)
    if found:
        return (passed(METRIC, score=1.0),)
    reason = f"expected {shown(options.wanted[0])}, got {shown(answer.text.strip())}"
    return (failed(METRIC, fault_of(answer, "wrong_value"), reason, score=score),)


def token_f1(answer: str, value: str, language: str | None = None) -> float:
    """Return the F1 of the words that answer and value share; characters in scripts without blanks.

    Articles at the beginning are left out, as where whole answers are compared. Only the first 20,000 characters of
    the answer are read: a longer one shares next to nothing.

    >>> round(token_f1("今天雨", "今天下雨", "zh"), 2)
    0.86
    """
    texts = (plain_form(answer_form(text, language), base_language(language)) for text in (answer[:20_000], value))
    got, wanted = (Counter(tokens(text, language)) for text in texts)
    shared = sum((got & wanted).values())
    return 2 * shared / (got.total() + wanted.total()) if shared else 0.0
