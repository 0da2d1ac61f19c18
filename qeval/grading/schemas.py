"""JSON Schemas of suites, for callers outside the graders: checked, and read for what nobody would check."""

from __future__ import annotations

from qeval.grading._budget import OverBudgetError
from qeval.grading._keywords import Doubt, checks_something, doubts
from qeval.grading._schema import (
    BadSchemaError,
    Violation,
    check_schema,
    draft_of,
    known_formats,
    unknown_formats,
    violations,
)

__all__ = [
    "BadSchemaError",
    "Doubt",
    "OverBudgetError",
    "Violation",
    "check_schema",
    "checks_something",
    "doubts",
    "draft_of",
    "known_formats",
    "unknown_formats",
    "violations",
]
