"""One grader on one answer, within a budget and behind one guard, whatever the answer is.

Usual answers are graded here. Where an answer is long, or patterns take their time, the worker grades it: it can be
ended. What cannot be graded within the budget, or makes a grader fail, is ungraded with its reason.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from qeval.grading._budget import Budget, OutOfStepsError, OutOfTimeError, limited_to
from qeval.grading._grades import ungraded
from qeval.grading._worker import WORKER, TookTooLongError, WorkerEndedError
from qeval.grading.base import Answer, Question, find_grader
from qeval.outcome import Grade
from qeval.strict import Strict

GRADING_TIMEOUT = "grading_timeout"
GRADER_ERROR = "grader_error"
LONGEST_HERE = 5_000
"""Longest answer that is graded in this process, in characters. Work that grows with the square of it stays within a
second."""


class Job(NamedTuple):
    """What is to be graded, and how."""

    kind: str
    """The grader's."""
    options: Strict
    answer: Answer
    question: Question


def grade_bounded(job: Job) -> tuple[Grade, ...]:
    """Return the grades of one grader; never raises for what an answer holds."""
    if _length(job.answer) <= LONGEST_HERE:
        try:
            return _graded(job, Budget())
        except OutOfTimeError:
            pass  # the worker has more time
    try:
        grades: tuple[Grade, ...] = WORKER.run(_graded_apart, job)
    except TookTooLongError as error:
        return _none(job, GRADING_TIMEOUT, str(error))
    except WorkerEndedError as error:
        return _none(job, GRADER_ERROR, str(error))
    return grades


def _graded_apart(job: Job) -> tuple[Grade, ...]:
    return _graded(job, Budget(patterns_s=None))


def _graded(job: Job, budget: Budget) -> tuple[Grade, ...]:
    try:
        with limited_to(budget):
            return find_grader(job.kind).grade(job.options, job.answer, job.question)
    except OutOfTimeError:
        raise
    except OutOfStepsError as error:
        return _none(job, GRADING_TIMEOUT, str(error))
    except Exception as error:  # noqa: BLE001 - whatever a library raises on an answer is that answer's alone
        return _none(job, GRADER_ERROR, f"{type(error).__name__}: {error}")


def _none(job: Job, fault: str, reason: str) -> tuple[Grade, ...]:
    """Return ungraded grades for all metrics that the grader would have given."""
    grader = find_grader(job.kind)
    metrics: Mapping[str, bool] = getattr(grader, "metrics", _its_name_alone(job.kind))(job.options)
    return tuple(ungraded(metric, fault, reason, required=required) for metric, required in metrics.items())


def _its_name_alone(kind: str) -> Any:  # noqa: ANN401 - a grader's function `metrics`
    return lambda options: {kind: True}


def _length(answer: Answer) -> int:
    """Return how long an answer is, in characters."""
    return len(answer.text) + sum(len(str(call.arguments)) for call in answer.tool_calls or ())
