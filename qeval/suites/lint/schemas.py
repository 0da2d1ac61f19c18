"""What in a case's JSON Schemas nobody checks: formats, misspelt keywords, keywords of other drafts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from qeval.chat import bare_schema
from qeval.errors import did_you_mean
from qeval.grading.schemas import Doubt, doubts, draft_of, known_formats, unknown_formats
from qeval.jsonl import dumps
from qeval.suites.case import Case
from qeval.suites.lint.finding import Flaw


def schema_flaws(case: Case, known: dict[str, tuple[Flaw, ...]]) -> Iterator[Flaw]:
    """Yield a warning for each format and keyword that its schema's draft does not check.

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
            yield f"grader {grader['kind']}", bare_schema(grader["schema"])
    for tool in case.tools:
        yield f"tool '{tool.name}'", tool.parameters
    if case.response_schema is not None:
        yield "response_schema", case.response_schema


def _flaws(schema: Any) -> Iterator[Flaw]:  # noqa: ANN401 - a schema may be a boolean
    draft = draft_of(schema)
    for name in unknown_formats(schema):
        hint = did_you_mean(name, known_formats())
        yield Flaw(
            "warning",
            f"the format '{name}' is not known, so any text passes it.{hint} Correct it, or use a pattern instead.",
        )
    yield from (Flaw("warning", _said(doubt, draft)) for doubt in doubts(schema))


def _said(doubt: Doubt, draft: str) -> str:
    if doubt.kind == "misspelt":
        return f"'{doubt.key}' is no keyword of JSON Schema, so it checks nothing. Did you mean '{doubt.meant}'?"
    if doubt.kind == "other draft":
        return (
            f"the keyword '{doubt.key}' checks nothing in draft {draft}, by which this schema is read; it does in "
            f"draft {doubt.meant}. Name that draft in '$schema', or say it in another way."
        )
    return (
        f"a schema with '{doubt.key}' has no keyword of JSON Schema, so it accepts every value. If '{doubt.key}' is a "
        "property, put it under 'properties'."
    )
