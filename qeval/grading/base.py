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
    """The answer with any thinking block removed; empty where the model never left its thoughts."""
    tool_calls: tuple[ToolCall, ...] | None = None
    """Calls the engine returned apart from the text."""
    finish: str | None = None
    failure: str | None = None


class Grader(Protocol):
    """The shape of a grader module."""

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
    """Return what graders see of an answered outcome."""
    from qeval.grading._reasoning import split_reasoning

    thought = split_reasoning(outcome.text)
    failure = "truncated_in_reasoning" if thought.cut_short else outcome.failure
    return Answer(thought.answer, outcome.tool_calls, outcome.finish, failure)


def grade_outcome(outcome: Outcome, graders: Sequence[Mapping[str, Any]], question: Question) -> Outcome:
    """Return the outcome with its grades; no answer gives one ungraded grade a grader."""
    if not outcome.answered:
        # A grader's metrics are not known without an answer, so the kind stands for them.
        grades = tuple(
            Grade(metric=str(spec["kind"]), status="ungraded", fault=outcome.status, reason=outcome.detail)
            for spec in graders
        )
        return outcome.model_copy(update={"grades": grades})
    answer = answer_of(outcome)
    graded: list[Grade] = []
    for spec in graders:
        kind, options = check_grader(spec, f"case {outcome.case}")
        graded.extend(find_grader(kind).grade(options, answer, question))
    return outcome.model_copy(update={"grades": tuple(graded), "failure": answer.failure})
