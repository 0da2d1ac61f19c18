"""JSON Schema, drafts 4 to 2020-12: exact numbers, formats under every draft, counted work, and no network.

Written here, since the `jsonschema` package checks the same alternative again at every level, so that an ordinary
grammar of expressions takes exponential time; runs patterns without a limit inside `unevaluatedProperties`; and leaves
all that was set up for it where an inner schema names its draft. Its format checkers and the published meta-schemas are
used.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from decimal import Decimal
from functools import lru_cache
from typing import Any

from qeval.grading._budget import Budget, OutOfStepsError, current_budget
from qeval.grading._patterns import PatternError
from qeval.grading._schema.circles import circle_in
from qeval.grading._schema.drafts import DEFAULT_DRAFT, DRAFTS, draft_of, inner_schemas, named_draft
from qeval.grading._schema.ecma import compile_ecma
from qeval.grading._schema.evaluate import faults_of, make_ready
from qeval.grading._schema.faults import BadSchemaError, Violation, cut, pointer
from qeval.grading._schema.formats import known_formats
from qeval.grading._schema.graph import Graph
from qeval.grading._schema.nodes import Node
from qeval.jsonl import dumps

__all__ = [
    "BadSchemaError",
    "Violation",
    "check_schema",
    "draft_of",
    "known_formats",
    "subschemas",
    "unknown_formats",
    "violations",
]

_MOST_STEPS_TO_CHECK = 5_000_000
"""Steps that checking a schema itself may take; one of 100 kB takes some 200,000."""


def check_schema(schema: Any) -> None:  # noqa: ANN401 - a schema may be a boolean
    """Check a schema before any model loads.

    Raises:
        BadSchemaError: the schema breaks its draft's meta-schema, a `$ref` leads nowhere or in a circle, or a pattern
            is unusable.
    """
    try:
        text = dumps(schema)
    except RecursionError as error:
        raise BadSchemaError("the schema is nested too deeply") from error
    _check(text)


def violations(schema_text: str, value: Any, most: int = 3) -> list[Violation]:  # noqa: ANN401 - any JSON value
    """Return the first violations of a value.

    Args:
        schema_text: the schema as JSON, so that it is read and checked once.
        value: as `_json.read_strict` returns it.
        most: how many to return.

    Raises:
        BadSchemaError: the schema cannot be used.
        OutOfStepsError, OutOfTimeError: the check takes more than the current budget.
    """
    _check(schema_text)
    faults = faults_of(_graph(schema_text), value, most, current_budget())
    return [Violation(pointer(fault.path), fault.keyword, fault.message) for fault in faults]


def subschemas(schema: Any) -> Iterator[Mapping[str, Any]]:  # noqa: ANN401 - a schema may be a boolean
    """Yield a schema and every schema inside it that is an object, references not followed."""
    waiting = [(schema, named_draft(schema, DRAFTS[DEFAULT_DRAFT]))]
    while waiting:
        contents, draft = waiting.pop()
        waiting.extend((inner, named_draft(inner, draft)) for _, _, inner in inner_schemas(contents, draft))
        if isinstance(contents, Mapping):
            yield contents


def unknown_formats(schema: Any) -> tuple[str, ...]:  # noqa: ANN401 - a schema may be a boolean
    """Return the names of formats in a schema that nobody checks, so that any text passes them.

    Args:
        schema: as `check_schema` accepts it.

    >>> unknown_formats({"properties": {"when": {"format": "datetime"}, "day": {"format": "date"}}})
    ('datetime',)
    """
    return tuple(sorted(_graph(dumps(schema)).formats - known_formats()))


@lru_cache(maxsize=4096)
def _check(schema_text: str) -> None:
    """Check a schema; one that passed is not checked again with every answer."""
    schema = json.loads(schema_text, parse_float=Decimal)
    _follow_meta_schema(schema, draft_of(schema), "")
    graph = _graph(schema_text)
    for place, node in graph.reached:
        # A reference may lead to where the meta-schema looks for no schema.
        _follow_meta_schema(node.contents, node.draft.name, place)
    for node in graph.nodes:
        _check_patterns(node)
    if (reference := circle_in(graph)) is not None:
        raise BadSchemaError(
            f"$ref '{cut(reference)}' leads back to itself in a circle: no answer could ever be checked"
        )


@lru_cache(maxsize=256)
def _graph(schema_text: str) -> Graph:
    return Graph(json.loads(schema_text, parse_float=Decimal))


def _follow_meta_schema(schema: Any, draft: str, place: str) -> None:  # noqa: ANN401 - a schema may be a boolean
    budget = Budget(steps=_MOST_STEPS_TO_CHECK, patterns_s=None)
    try:
        faults = faults_of(_meta_schema(draft), schema, 1, budget)
    except OutOfStepsError as error:
        raise BadSchemaError(f"the schema is too large: {error}") from error
    for fault in faults:
        at = pointer([*place.split("/")[1:], *fault.path])
        raise BadSchemaError(f"at {at}: {fault.message} (draft {draft})")


@lru_cache(maxsize=len(DRAFTS))
def _meta_schema(draft: str) -> Graph:
    graph = Graph({"$ref": DRAFTS[draft].uri})
    for node in graph.nodes:
        # Patterns are checked apart, with a better message; what a URI looks like matters where it is referred to.
        make_ready(node, leave_out={"format"})
    return graph


def _check_patterns(node: Node) -> None:
    named = node.keywords.get("patternProperties", {})
    for pattern in (node.keywords.get("pattern"), *named):
        if isinstance(pattern, str):
            try:
                compile_ecma(pattern)
            except PatternError as error:
                raise BadSchemaError(str(error)) from error
