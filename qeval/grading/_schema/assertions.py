"""Keywords that look at one value alone. Each returns what is wrong with it, or None."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import NamedTuple

from qeval.grading._budget import Budget
from qeval.grading._json import MOST_EXPONENT
from qeval.grading._schema.ecma import compile_ecma
from qeval.grading._schema.formats import fits_format
from qeval.grading._schema.nodes import Node
from qeval.grading._schema.values import Json, canonical, is_integer, is_number, shown, weight

Assertion = Callable[[Json, Json, Node, Budget], str | None]
"""Takes what the keyword demands (as `ready` returns it), the value to check, the node, and the budget."""
_DIGITS_A_STEP = 100


def _type(wanted: Json, value: Json, node: Node, _: Budget) -> str | None:
    names = [wanted] if isinstance(wanted, str) else wanted
    if any(_is_of(name, value, node) for name in names):
        return None
    return f"{shown(value)} is not of type {' or '.join(map(repr, names))}"


def _is_of(name: str, value: object, node: Node) -> bool:
    match name:
        case "object":
            return isinstance(value, dict)
        case "array":
            return isinstance(value, list)
        case "string":
            return isinstance(value, str)
        case "boolean":
            return isinstance(value, bool)
        case "null":
            return value is None
        case "integer":
            return is_integer(value, by_worth=node.draft.name != "4")
    return is_number(value)


class Choices(NamedTuple):
    """The values of an `enum`, made ready to be looked up."""

    values: Sequence[Json]
    canonical: frozenset[Hashable]


def _enum(wanted: Choices, value: Json, _: Node, budget: Budget) -> str | None:
    budget.spend(weight(value))
    return None if canonical(value) in wanted.canonical else f"{shown(value)} is not one of {shown(wanted.values)}"


def _const(wanted: Json, value: Json, _: Node, budget: Budget) -> str | None:
    budget.spend(weight(value))
    return None if canonical(value) == canonical(wanted) else f"{shown(value)} is not {shown(wanted)}"


def _minimum(wanted: Json, value: Json, node: Node, _: Budget) -> str | None:
    if not is_number(value):
        return None
    # In draft 4 the other keyword says whether the bound itself is allowed.
    strictly = node.contents.get("exclusiveMinimum") is True
    if value < wanted or (strictly and value == wanted):
        return f"{shown(value)} is less than the minimum of {wanted}{' or equal to it' if strictly else ''}"
    return None


def _maximum(wanted: Json, value: Json, node: Node, _: Budget) -> str | None:
    if not is_number(value):
        return None
    strictly = node.contents.get("exclusiveMaximum") is True
    if value > wanted or (strictly and value == wanted):
        return f"{shown(value)} is greater than the maximum of {wanted}{' or equal to it' if strictly else ''}"
    return None


def _exclusive_minimum(wanted: Json, value: Json, _: Node, __: Budget) -> str | None:
    return f"{shown(value)} is not greater than {wanted}" if is_number(value) and value <= wanted else None


def _exclusive_maximum(wanted: Json, value: Json, _: Node, __: Budget) -> str | None:
    return f"{shown(value)} is not less than {wanted}" if is_number(value) and value >= wanted else None


def _multiple_of(wanted: Json, value: Json, _: Node, budget: Budget) -> str | None:
    if not is_number(value):
        return None
    value = Decimal(repr(value)) if isinstance(value, float) and math.isfinite(value) else value
    if isinstance(value, float) or (isinstance(value, Decimal) and abs(value.adjusted()) > 2 * MOST_EXPONENT):
        return f"{shown(value)} is too large to be checked"
    digits = abs(value.adjusted()) if isinstance(value, Decimal) else value.bit_length() // 3
    budget.spend(2 + digits // _DIGITS_A_STEP)
    return f"{shown(value)} is not a multiple of {wanted}" if Fraction(value) % Fraction(wanted) else None


def _pattern(wanted: str, value: Json, _: Node, budget: Budget) -> str | None:
    if not isinstance(value, str) or budget.search(compile_ecma(wanted), value):
        return None
    return f"{shown(value)} does not match {wanted!r}"


def _format(wanted: str, value: Json, _: Node, budget: Budget) -> str | None:
    if not isinstance(value, str) or fits_format(wanted, value, budget):
        return None
    return f"{shown(value)} is not a {wanted!r}"


def _unique_items(wanted: bool, value: Json, _: Node, budget: Budget) -> str | None:
    if not wanted or not isinstance(value, list):
        return None
    budget.spend(weight(value))
    return f"{shown(value)} has equal items" if len({canonical(item) for item in value}) < len(value) else None


def _required(wanted: Sequence[str], value: Json, _: Node, __: Budget) -> str | None:
    missing = [name for name in wanted if isinstance(value, dict) and name not in value]
    return f"{_names(missing)} is required" if missing else None


def _dependent_required(wanted: Mapping[str, Json], value: Json, _: Node, __: Budget) -> str | None:
    # Schemas under `dependencies` are applied with those of `dependentSchemas`.
    if not isinstance(value, dict):
        return None
    for name, others in wanted.items():
        missing = [other for other in others if other not in value] if isinstance(others, list) else []
        if name in value and missing:
            return f"{_names(missing)} is required beside {name!r}"
    return None


def _bounded(kind: type[str] | type[list[Json]] | type[dict[str, Json]], what: str, *, least: bool) -> Assertion:
    """Return the check of a length: of a text, a list or an object."""

    def check(wanted: Json, value: Json, _: Node, __: Budget) -> str | None:
        if not isinstance(value, kind):
            return None
        size = len(value)
        if least:
            return f"{shown(value)} has {size} {what}, fewer than {wanted}" if size < wanted else None
        return f"{shown(value)} has {size} {what}, more than {wanted}" if size > wanted else None

    return check


def _names(names: Sequence[str]) -> str:
    return ", ".join(map(shown, names[:5]))


ASSERTIONS: dict[str, Assertion] = {
    "type": _type,
    "enum": _enum,
    "const": _const,
    "minimum": _minimum,
    "maximum": _maximum,
    "exclusiveMinimum": _exclusive_minimum,
    "exclusiveMaximum": _exclusive_maximum,
    "multipleOf": _multiple_of,
    "minLength": _bounded(str, "characters", least=True),
    "maxLength": _bounded(str, "characters", least=False),
    "minItems": _bounded(list, "items", least=True),
    "maxItems": _bounded(list, "items", least=False),
    "minProperties": _bounded(dict, "properties", least=True),
    "maxProperties": _bounded(dict, "properties", least=False),
    "pattern": _pattern,
    "format": _format,
    "uniqueItems": _unique_items,
    "required": _required,
    "dependentRequired": _dependent_required,
    "dependencies": _dependent_required,
}
"""By keyword, cheap ones first."""


def ready(keyword: str, wanted: Json) -> Json:
    """Return what a keyword demands as its assertion takes it, so that work for all values is done once."""
    return Choices(wanted, frozenset(map(canonical, wanted))) if keyword == "enum" else wanted
