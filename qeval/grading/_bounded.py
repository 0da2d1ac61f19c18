"""Whatever an answer holds: it is read, and graded, within a budget and behind one guard.

Usual answers are graded in this process. Where an answer is long, or patterns take their time, the worker does it: it
can be ended. What does not fit the budget, or makes a grader fail, is ungraded with its reason.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar, TypeVarTuple

from qeval.grading._budget import Budget, OutOfStepsError, OutOfTimeError, limited_to
from qeval.grading._grades import ungraded
from qeval.grading._worker import WORKER, TookTooLongError, WorkerEndedError
from qeval.grading.base import Answer, Question, answer_of, find_grader, why_broken
from qeval.outcome import Grade, Outcome
from qeval.strict import Strict

T = TypeVar("T")
Ts = TypeVarTuple("Ts")

GRADING_TIMEOUT = "grading_timeout"
GRADER_ERROR = "grader_error"
LONGEST_HERE = 5_000
"""Longest answer that is graded in this process, in characters. Work that grows with the square of it stays within a
second."""
MOST_HERE = 200
"""Most values that a grader graded with here may list: each may be held against the whole answer."""


class NoGrade(NamedTuple):
    """Why an answer could not be graded."""

    fault: str
    reason: str


def answer_bounded(outcome: Outcome) -> Answer | NoGrade:
    """Return what graders see of an answered outcome, or why it could not be read."""
    return _bounded(len(outcome.text) <= LONGEST_HERE, answer_of, outcome)


def broken_bounded(
    outcome: Outcome, answer: Answer, graders: Sequence[Mapping[str, Any]], question: Question
) -> str | NoGrade | None:
    """Return why an answer is degenerate, None where it is not, or why that could not be told."""
    return _bounded(_length(answer) <= LONGEST_HERE, why_broken, outcome, answer, graders, question)


def grade_bounded(kind: str, options: Strict, answer: Answer | NoGrade, question: Question) -> tuple[Grade, ...]:
    """Return what one grader says of an answer; all its metrics ungraded where it comes to no end, or fails."""
    if isinstance(answer, NoGrade):
        return _none(kind, options, answer)
    small = _length(answer) <= LONGEST_HERE and _listed(options) <= MOST_HERE
    graded = _bounded(small, _grade, kind, options, answer, question)
    return _none(kind, options, graded) if isinstance(graded, NoGrade) else graded


def _grade(kind: str, options: Strict, answer: Answer, question: Question) -> tuple[Grade, ...]:
    return find_grader(kind).grade(options, answer, question)


def _bounded(small: bool, function: Callable[[*Ts], T], *arguments: *Ts) -> T | NoGrade:
    """Call a function on an answer: here where all is small, in the worker where that may take long."""
    if small:
        try:
            return _guarded(Budget(), function, *arguments)
        except OutOfTimeError:
            pass  # the worker has more time
    try:
        done: T | NoGrade = WORKER.run(_guarded, Budget(patterns_s=None), function, *arguments)
    except TookTooLongError as error:
        return NoGrade(GRADING_TIMEOUT, str(error))
    except WorkerEndedError as error:
        return NoGrade(GRADER_ERROR, str(error))
    return done


def _guarded(budget: Budget, function: Callable[[*Ts], T], *arguments: *Ts) -> T | NoGrade:
    try:
        with limited_to(budget):
            return function(*arguments)
    except OutOfTimeError:
        raise
    except OutOfStepsError as error:
        return NoGrade(GRADING_TIMEOUT, str(error))
    except Exception as error:  # noqa: BLE001 - what a library raises on one answer is that answer's alone
        return NoGrade(GRADER_ERROR, f"{type(error).__name__}: {error}")


def _none(kind: str, options: Strict, why: NoGrade) -> tuple[Grade, ...]:
    """Return ungraded grades for all metrics that a grader would have given."""
    own: Callable[[Strict], Mapping[str, bool]] | None = getattr(find_grader(kind), "metrics", None)
    metrics = {kind: True} if own is None else own(options)
    return tuple(ungraded(metric, why.fault, why.reason, required=required) for metric, required in metrics.items())


def _length(answer: Answer) -> int:
    """Return how long an answer is, in characters."""
    return len(answer.text) + sum(len(str(call.arguments)) for call in answer.tool_calls or ())


def _listed(options: Strict) -> int:
    """Return how many values the longest list of a grader's options has."""
    return max((len(value) for _, value in options if isinstance(value, tuple | list | dict)), default=0)
