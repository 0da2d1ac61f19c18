"""The frame that graders share: what they are given, how they are found, how an outcome is graded."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple, Protocol, cast

from qeval import grading
from qeval.chat import Tool, ToolCall
from qeval.errors import unknown_name
from qeval.marks import split_said, without
from qeval.outcome import Grade, Outcome
from qeval.strict import Strict, validate

_NOT_GRADERS = frozenset({"base", "choices", "schemas"})
"""Modules in this folder that graders share; names that begin with an underscore are shared code as well."""


class Question(NamedTuple):
    """What a grader may know about the case besides its own options."""

    language: str | None = None
    """BCP 47 language of the case (its `lang` tag), or None."""
    tools: tuple[Tool, ...] = ()
    prompt: str | None = None
    """The last message of the user, or None."""


class Answer(NamedTuple):
    """An answer as graders see it."""

    text: str
    """The answer without thoughts and marks of turns; empty where the model never left its thoughts."""
    tool_calls: tuple[ToolCall, ...] | None = None
    """Calls the engine returned apart from the text."""
    finish: str | None = None
    failure: str | None = None
    thought: str | None = None
    """What was taken off before it; no grader judges by it."""


class Grader(Protocol):
    """The shape of a grader module.

    One whose metrics are not its own name alone, or may not be required, has `metrics(options)` as well: a mapping from
    the name of each metric to whether it is required.
    """

    Options: type[Strict]

    def grade(self, options: Any, answer: Answer, question: Question) -> tuple[Grade, ...]:  # noqa: ANN401
        """Grade one answer."""


@cache
def grader_kinds() -> tuple[str, ...]:
    """Return the names of all graders: the modules of this folder, without importing them; listed once a process."""
    names = (module.name for module in pkgutil.iter_modules(grading.__path__))
    return tuple(sorted(name for name in names if name not in _NOT_GRADERS and not name.startswith("_")))


def find_grader(kind: str) -> Grader:
    """Import a grader by name.

    Raises:
        UsageError: no such grader.
    """
    if kind not in grader_kinds():
        raise unknown_name("grader", kind, grader_kinds())
    return cast(Grader, importlib.import_module(f"qeval.grading.{kind}"))


def check_grader(spec: Mapping[str, Any], where: str) -> tuple[str, Strict]:
    """Check a grader as written in a case, `{"kind": ..., **options}`, and return its kind and options.

    Raises:
        UsageError: unknown kind, or options that the grader refuses.
    """
    options = dict(spec)
    kind = str(options.pop("kind", ""))
    if kind not in grader_kinds():
        raise type(unknown := unknown_name("grader", kind, grader_kinds()))(f"{where}: {unknown}")
    return kind, validate(find_grader(kind).Options, options, f"{where}, grader {kind}")


def answer_of(outcome: Outcome) -> Answer:
    """Return what graders see of an answered outcome.

    Special tokens that are left in the answer are left out, as products do, unless there are marks of calls among them.
    """
    from qeval.grading._call_syntaxes import is_call_mark

    said = split_said(outcome.text, outcome.opened or "", outcome.special)
    left = [token for token in outcome.special or () if token in said.answer]
    plain = said.answer if any(map(is_call_mark, left)) else without(said.answer, left)
    failure = "truncated_in_reasoning" if said.cut_short else outcome.failure
    return Answer(plain, outcome.tool_calls, outcome.finish, failure, said.thought)


def grade_answer(kind: str, options: Strict, answer: Answer, question: Question) -> tuple[Grade, ...]:
    """Return what one grader says of an answer, within its budget.

    Whatever the answer is, this never raises: one that cannot be graded is ungraded, as `grading_timeout` or
    `grader_error`, with the reason.
    """
    from qeval.grading._bounded import grade_bounded

    return grade_bounded(kind, options, answer, question)


def why_broken(
    outcome: Outcome, answer: Answer, graders: Sequence[Mapping[str, Any]], question: Question
) -> str | None:
    """Return why an answer is degenerate, or None where it is not.

    Thoughts that were closed are not looked at. Where an answer ends inside its thoughts, they are its end.
    """
    from qeval.grading._asked import asked_by
    from qeval.grading._degenerate import why_degenerate

    cut = outcome.finish == "length" or outcome.failure == "truncated"
    text = outcome.text if answer.failure == "truncated_in_reasoning" else answer.text
    return why_degenerate(text, cut=cut, asked=asked_by(graders, question.prompt or ""))


def grade_outcome(outcome: Outcome, graders: Sequence[Mapping[str, Any]], question: Question) -> Outcome:
    """Return the outcome with its grades, as `grade_answer` gives them; no answer gives one ungraded grade a grader.

    Whether an answer is degenerate is decided here, before any grader sees it. Graders say what they find all the same,
    but none that the case requires passes it.
    """
    from qeval.grading._bounded import NoGrade, answer_bounded, broken_bounded, grade_bounded

    if not outcome.answered:
        # A grader's metrics are not known without an answer, so the kind stands for them.
        grades = tuple(
            Grade(metric=str(spec["kind"]), status="ungraded", fault=outcome.status, reason=outcome.detail)
            for spec in graders
        )
        return outcome.model_copy(update={"grades": grades})
    if outcome.failure == "degenerate":
        # An earlier rule said so; the rule as it is now decides.
        outcome = outcome.model_copy(update={"failure": "truncated" if outcome.finish == "length" else None})
    answer = answer_bounded(outcome)
    why = None if isinstance(answer, NoGrade) else broken_bounded(outcome, answer, graders, question)
    if isinstance(why, NoGrade):
        answer, why = why, None
    elif why is not None and not isinstance(answer, NoGrade):
        answer = answer._replace(failure="degenerate")
    read = {} if isinstance(answer, NoGrade) else {"failure": answer.failure, "thought": answer.thought}
    graded: list[Grade] = []
    for spec in graders:
        kind, options = check_grader(spec, f"case {outcome.case}")
        found = grade_bounded(kind, options, answer, question)
        graded.extend(found if why is None else (_failed_as_broken(grade, why) for grade in found))
    return outcome.model_copy(update={"grades": tuple(graded), **read})


def _failed_as_broken(grade: Grade, why: str) -> Grade:
    """Return the grade of a degenerate answer: its own where it is a fail or beside the case's `pass`, else a fail."""
    from qeval.grading._grades import failed

    if grade.status == "fail" or not grade.required:
        return grade
    own = f" (else: {grade.fault or grade.status}{', ' if grade.reason else ''}{grade.reason})"
    return failed(grade.metric, "degenerate", f"the answer {why}{own}", score=None if grade.score is None else 0.0)
