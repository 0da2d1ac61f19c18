"""JSON values as JSON Schema compares them: numbers by worth, true is not 1."""

from __future__ import annotations

from decimal import Decimal
from itertools import islice
from typing import Any

from qeval.grading._schema.faults import cut

Json = Any
"""Any JSON value."""
_MOST_SHOWN = 5


def is_number(value: object) -> bool:
    """Return whether a value is a number."""
    # Values read from text hold no floats; those of calls that an engine returned apart do.
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool)


def is_integer(value: object, *, by_worth: bool) -> bool:
    """Return whether a value is an integer.

    Args:
        value: any JSON value.
        by_worth: whether 1.0 is one. Draft 4 reads it as a number that is no integer; later drafts go by its worth.
    """
    if isinstance(value, bool):
        return False
    if isinstance(value, Decimal):
        return value == value.to_integral_value() if by_worth else value.as_tuple().exponent == 0
    return isinstance(value, int) or (by_worth and isinstance(value, float) and value.is_integer())


def canonical(value: Json) -> Any:  # noqa: ANN401 - hashable
    """Return a hashable stand-in that is equal for equal JSON values: 1 and 1.0 are, 1 and true are not."""
    if isinstance(value, bool):
        return ("bool", value)
    if isinstance(value, float):
        return Decimal(repr(value))
    if isinstance(value, list | tuple):
        return ("list", *(canonical(item) for item in value))
    if isinstance(value, dict):
        return ("dict", frozenset((key, canonical(item)) for key, item in value.items()))
    return value


def weight(value: Json) -> int:
    """Return how many values a JSON value holds, itself included."""
    total, waiting = 0, [value]
    while waiting:
        total += 1
        inner = waiting.pop()
        if isinstance(inner, list | tuple):
            waiting.extend(inner)
        elif isinstance(inner, dict):
            waiting.extend(inner.values())
    return total


def shown(value: Json) -> str:
    """Return a value as a message quotes it: in the time that a short one takes, however large it is.

    >>> shown({"a": [1, 2], "b": "x"}), shown([1, 2, 3, 4, 5, 6])
    ("{'a': [...], 'b': 'x'}", '[1, 2, 3, 4, 5, ...]')
    """
    if not isinstance(value, list | tuple | dict):
        return _brief(value)
    more = ", ..." if len(value) > _MOST_SHOWN else ""
    if isinstance(value, dict):
        pairs = [f"{_brief(key)}: {_brief(inner)}" for key, inner in islice(value.items(), _MOST_SHOWN)]
        return cut(f"{{{', '.join(pairs)}{more}}}")
    return cut(f"[{', '.join(_brief(inner) for inner in value[:_MOST_SHOWN])}{more}]")


def _brief(value: Json) -> str:
    if isinstance(value, list | tuple):
        return "[...]" if value else "[]"
    if isinstance(value, dict):
        return "{...}" if value else "{}"
    return cut(str(value) if isinstance(value, Decimal) else repr(value[:200] if isinstance(value, str) else value))
