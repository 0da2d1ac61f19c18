"""Expected fields that the case's own JSON Schema does not allow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from qeval.grading import Question
from qeval.grading.choices import accepted, first_accepted
from qeval.grading.json_schema import Options
from qeval.grading.schemas import OverBudgetError, Violation, checks_something, doubts, violations
from qeval.jsonl import dumps
from qeval.suites.lint.finding import Flaw

_MOST = 50
"""Violations looked at: a value with one field alone breaks much that has nothing to do with the field."""


def field_flaws(options: Options, _question: Question) -> Iterator[Flaw]:
    """Yield expected fields whose every accepted value the schema refuses, and schemas that say nothing."""
    if options.schema_ is False:
        yield Flaw("error", "the schema is false, which no value follows. Write what the answer must look like.")
        return
    says_nothing = not checks_something(options.schema_) and not doubts(options.schema_)
    if says_nothing and not options.expect and not options.strict:
        yield Flaw("warning", "the schema accepts every JSON value and no field is expected. Say what it must hold.")
    text = dumps(options.schema_)
    for key, wanted in (options.expect or {}).items():
        reason = _refused(key, wanted, text)
        if reason is not None:
            yield Flaw("error", f"the expected field '{key}' breaks the case's own schema: {reason}. Correct one.")


def _refused(key: str, wanted: Any, schema_text: str) -> str | None:  # noqa: ANN401 - any JSON value
    """Return why the schema refuses a field with each accepted value, or None where it accepts one of them."""
    steps = key.split("/")[1:] if key.startswith("/") else [key.replace("~", "~0").replace("/", "~1")]
    reason = None
    for choice in accepted(wanted):
        for value in _alone(steps, first_accepted(choice)):
            try:
                found = [one for one in violations(schema_text, value, most=_MOST) if _is_about(one, steps)]
            except OverBudgetError:
                return None
            if not found:
                return None
            reason = reason or f"at {found[0].path}: {found[0].message}"
    return reason


def _alone(steps: Sequence[str], leaf: Any) -> list[Any]:  # noqa: ANN401 - any JSON value
    """Return values that hold one field and nothing else; a step that is a number is an index, or else a key."""
    if not steps:
        return [leaf]
    name = steps[0].replace("~1", "/").replace("~0", "~")
    inside = _alone(steps[1:], leaf)
    listed = [[*[None] * int(name), value] for value in inside] if name.isdecimal() and len(name) < 3 else []
    return [*listed, *({name: value} for value in inside)]


def _is_about(violation: Violation, steps: Sequence[str]) -> bool:
    """Whether a violation is the field's own, or says that there may be no such field."""
    pointer = "".join(f"/{step}" for step in steps)
    path = "" if violation.path == "the top" else violation.path
    if path == pointer or path.startswith(f"{pointer}/"):
        return True
    # A key that is not allowed, or another type than the one that could hold the field, on the way to it.
    return violation.keyword in {"additionalProperties", "type"} and pointer.startswith(f"{path}/")
