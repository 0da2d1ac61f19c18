"""Formats in JSON Schemas that nobody checks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from qeval.errors import did_you_mean
from qeval.grading.schemas import known_formats, unknown_formats
from qeval.jsonl import dumps
from qeval.suites.case import Case
from qeval.suites.lint.finding import Flaw


def format_flaws(case: Case, known: dict[str, tuple[Flaw, ...]]) -> Iterator[Flaw]:
    """Yield a warning for each format that is not known.

    Args:
        case: a valid case.
        known: flaws of schemas seen before, by the schema as JSON; added to.
    """
    for place, schema in _schemas(case):
        text = dumps(schema)
        if text not in known:
            known[text] = tuple(_flaws(schema))
        yield from (Flaw(flaw.level, f"{place}: {flaw.text}") for flaw in known[text])


def _schemas(case: Case) -> Iterator[tuple[str, Any]]:
    for grader in case.graders:
        if "schema" in grader:
            yield f"grader {grader['kind']}", grader["schema"]
    for tool in case.tools:
        yield f"tool '{tool.name}'", tool.parameters
    if case.response_schema is not None:
        yield "response_schema", case.response_schema


def _flaws(schema: Any) -> Iterator[Flaw]:  # noqa: ANN401 - a schema may be a boolean
    for name in unknown_formats(schema):
        hint = did_you_mean(name, known_formats())
        yield Flaw(
            "warning",
            f"the format '{name}' is not known, so any text passes it.{hint} Correct it, or use a pattern instead.",
        )
