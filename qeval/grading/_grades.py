"""How graders build their grades: one way to pass, one to fail, and the answers that fail every grader."""

from __future__ import annotations

import regex

from qeval.grading.base import Answer
from qeval.outcome import Grade

_LONGEST_REASON = 400
_CUT_SHORT = ("truncated", "truncated_in_reasoning", "degenerate")
_SAYS_SOMETHING = regex.compile(r"[\p{L}\p{N}[\p{So}--[\u2500-\u259F\uFFFD]]]", regex.VERSION1)
"""Letters, digits, emoji and other signs; no punctuation, no drawn lines and no replacement character."""


def printable(text: str, limit: int = _LONGEST_REASON) -> str:
    r"""Return text that any file can hold: lone surrogates escaped, cut at `limit` characters.

    >>> printable("half an emoji: \ud83d")
    'half an emoji: \\ud83d'
    """
    safe = text[:limit].encode("utf-8", "backslashreplace").decode("utf-8")
    return safe if len(text) <= limit else f"{safe}..."


def shown(value: object, limit: int = 60) -> str:
    """Return a value as a reason quotes it."""
    text = value if isinstance(value, str) else f"{value}"
    return f"'{printable(text, limit)}'" if isinstance(value, str) else printable(text, limit)


def passed(metric: str, reason: str = "", *, required: bool = True, score: float | None = None) -> Grade:
    """Build a pass."""
    return Grade(metric=metric, status="pass", required=required, reason=printable(reason), score=score)


def failed(metric: str, fault: str, reason: str, *, required: bool = True, score: float | None = None) -> Grade:
    """Build a fail with its class."""
    return Grade(metric=metric, status="fail", required=required, fault=fault, reason=printable(reason), score=score)


def ungraded(metric: str, fault: str, reason: str, *, required: bool = True) -> Grade:
    """Build the grade of an answer that this grader cannot judge."""
    return Grade(metric=metric, status="ungraded", required=required, fault=fault, reason=printable(reason))


def fault_of(answer: Answer, fault: str) -> str:
    """Return the class of a fail: that of an answer cut short where that explains it, else the grader's own."""
    if answer.failure in _CUT_SHORT:
        return answer.failure
    return "truncated" if answer.finish == "length" else fault


def no_text(metric: str, answer: Answer) -> Grade | None:
    """Return the fail of an answer without any text to grade, or None where there is some."""
    if answer.text.strip():
        return None
    if answer.failure == "degenerate":
        return failed(
            metric, "degenerate", "the answer holds nothing but blanks, or ended inside a loop of its thoughts"
        )
    if answer.failure == "truncated_in_reasoning":
        return failed(metric, "truncated_in_reasoning", "the answer ended inside its thinking block")
    if answer.finish == "content_filter" or answer.failure == "refused":
        return failed(metric, "refused", "the endpoint withheld the answer (content filter)")
    return failed(metric, "empty", "the answer is empty")


def no_words(metric: str, answer: Answer) -> Grade | None:
    """Return the fail of an answer that says nothing, for graders that pass an answer for what it does not hold.

    Besides an answer without text that is one of punctuation alone: it proves no more than an empty one.
    """
    if (empty := no_text(metric, answer)) is not None or _SAYS_SOMETHING.search(answer.text):
        return empty
    return failed(metric, fault_of(answer, "empty"), "the answer is punctuation alone")
