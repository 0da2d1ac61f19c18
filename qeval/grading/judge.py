"""The answer meets a rubric, by the verdict of another model: the judge, which is off unless a plan names one.

This grader is as pure as the others. It fails what no judge needs to see and leaves the rest ungraded with
`judge_off`; after all variants have answered, `qeval.runner.judging` asks the judge and fills these grades in.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from pydantic import Field, field_validator

from qeval.grading._grades import failed, no_text, ungraded
from qeval.grading.base import Answer, Question
from qeval.outcome import Grade, Outcome
from qeval.strict import Strict

METRIC = "judge"
JUDGE_OFF = "judge_off"


class Options(Strict):
    """What the judge is told of the case besides its conversation."""

    rubric: str = Field(max_length=10_000)
    """What an answer must do to pass."""
    reference: str | None = Field(default=None, max_length=10_000)
    """An answer that is right."""
    required: bool = False
    """Whether the case's `pass` depends on the judge."""

    @field_validator("rubric", "reference")
    @classmethod
    def _says_something(cls, value: str | None) -> str | None:
        if value is not None and not value.strip():
            raise ValueError("is empty; say what an answer must do to pass, or leave the key out")
        return value


def metrics(options: Options) -> dict[str, bool]:
    """Return the metric, and whether it is required."""
    return {METRIC: options.required}


def grade(options: Options, answer: Answer, question: Question) -> tuple[Grade, ...]:
    """Fail an answer without text or calls, and a degenerate one; leave any other to the judge."""
    broken = None if answer.tool_calls else no_text(METRIC, answer)
    if broken is None and answer.failure == "degenerate":
        broken = failed(METRIC, "degenerate", "the answer is broken, so no judge is asked")
    if broken is not None:
        return (broken.model_copy(update={"required": options.required}),)
    return (ungraded(METRIC, JUDGE_OFF, "no judge was asked", required=options.required),)


def judge_grades(outcomes: Iterable[Outcome]) -> list[Grade]:
    """Return the judge's grades of all outcomes with an answer, one a rubric."""
    return [g for outcome in outcomes if outcome.answered for g in outcome.grades if g.metric == METRIC]


def tally(grades: Iterable[Grade]) -> str:
    """Say how many of the judge's grades were given, and which classes the others have.

    >>> tally([Grade(metric="judge", status="pass"), Grade(metric="judge", status="ungraded", fault="judge_timeout")])
    '1 of 2 grades given, judge_timeout 1'
    """
    classes = Counter(grade.fault if grade.status == "ungraded" else None for grade in grades)
    missing = [f", {fault} {n}" for fault, n in sorted((f, n) for f, n in classes.items() if f is not None)]
    return f"{classes[None]} of {classes.total()} grades given{''.join(missing)}"
