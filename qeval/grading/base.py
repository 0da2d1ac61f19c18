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


def grade_outcome(outcome: Outcome, graders: Sequence[Mapping[str, Any]], question: Question) -> Outcome:
    """Return the outcome with its grades, as `grade_answer` gives them; no answer gives one ungraded grade a grader."""
    from qeval.grading._bounded import NoGrade, answer_bounded, grade_bounded

    if not outcome.answered:
        # A grader's metrics are not known without an answer, so the kind stands for them.
        grades = tuple(
            Grade(metric=str(spec["kind"]), status="ungraded", fault=outcome.status, reason=outcome.detail)
            for spec in graders
        )
        return outcome.model_copy(update={"grades": grades})
    answer = answer_bounded(outcome)
    read = {} if isinstance(answer, NoGrade) else {"failure": answer.failure, "thought": answer.thought}
    graded: list[Grade] = []
    for spec in graders:
        kind, options = check_grader(spec, f"case {outcome.case}")
        graded.extend(grade_bounded(kind, options, answer, question))
    return outcome.model_copy(update={"grades": tuple(graded), **read})
