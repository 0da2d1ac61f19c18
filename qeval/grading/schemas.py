"""JSON Schemas of suites, for callers outside the graders: checked, and read for what nobody would check."""

from __future__ import annotations

from typing import Any

from qeval.grading._keywords import Doubt as Doubt
from qeval.grading._keywords import checks_something as checks_something
from qeval.grading._keywords import doubts as doubts
from qeval.grading._schema import BadSchemaError as BadSchemaError
from qeval.grading._schema import Violation as Violation
from qeval.grading._schema import check_schema as check_schema
from qeval.grading._schema import draft_of as draft_of
from qeval.grading._schema import known_formats as known_formats
from qeval.grading._schema import subschemas
from qeval.grading._schema import violations as violations


def unknown_formats(schema: Any) -> tuple[str, ...]:  # noqa: ANN401 - a schema may be a boolean
    """Return the names of formats that the schema's draft does not know, so that any text passes them.

    Args:
        schema: as `check_schema` accepts it.

    >>> unknown_formats({"properties": {"when": {"format": "datetime"}, "day": {"format": "date"}}})
    ('datetime',)
    """
    named = {str(inner["format"]) for inner in subschemas(schema) if isinstance(inner.get("format"), str)}
    return tuple(sorted(named - known_formats(draft_of(schema)))) if named else ()
