"""Schemas and values made at random, small enough that values often fit."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

from qeval.grading._schema.drafts import DRAFTS

_NAMES = ("a", "b", "c", "ab")
_TEXTS = ("", "a", "b", "ab", "abc", "1")
_NUMBERS = (0, 1, 2, 3, -1, 1.5, 0.5, 10)
_TYPES = ("integer", "number", "string", "object", "array", "null", "boolean")
_DEEPEST = 3


def made_value(seed: int) -> Any:
    """Return a JSON value."""
    return _value(Random(f"value {seed}"), 0)


def made_schema(draft: str, seed: int) -> dict[str, Any]:
    """Return a schema of a draft, with definitions that it may refer to."""
    chance = Random(f"schema {seed}")
    schema: dict[str, Any] = {}
    while not schema:
        made = _schema(chance, draft, 0)
        schema = made if isinstance(made, dict) else {}
    return {
        **schema,
        "$schema": DRAFTS[draft].uri + ("#" if draft in {"4", "6", "7"} else ""),
        "definitions": {name: _schema(chance, draft, 2) for name in ("x", "y")},
    }


def _value(chance: Random, depth: int) -> Any:
    kind = chance.randrange(8 if depth < _DEEPEST else 6)
    if kind == 0:
        return chance.choice((True, False, None))
    if kind < 3:
        return chance.choice(_NUMBERS)
    if kind < 6:
        return chance.choice(_TEXTS)
    if kind == 6:
        return [_value(chance, depth + 1) for _ in range(chance.randrange(4))]
    return {name: _value(chance, depth + 1) for name in chance.sample(_NAMES, chance.randrange(4))}


def _schema(chance: Random, draft: str, depth: int) -> Any:
    if depth > _DEEPEST or chance.random() < 0.15:
        plain: list[Any] = [{}, {"type": chance.choice(_TYPES)}, {"enum": [_value(chance, 2) for _ in range(2)]}]
        return chance.choice(plain if draft == "4" else [*plain, True, False])

    def inner() -> Any:
        return _schema(chance, draft, depth + 1)

    makers = {**_PLAIN, **_APPLIED, "items": lambda chance, inner: {"items": inner()}}
    known = DRAFTS[draft].keywords
    schema: dict[str, Any] = {}
    for keyword in chance.sample([key for key in makers if key in known or key == "$ref"], chance.randrange(1, 5)):
        schema.update(makers[keyword](chance, inner))
    # What refers to neighbours is sampled with them, and some drafts have lists of schemas under `items`.
    if draft != "2020-12" and chance.random() < 0.2:
        schema["items"] = [inner() for _ in range(chance.randrange(1, 3))]
    if draft != "4" and "contains" in schema and "minContains" in known and chance.random() < 0.5:
        schema[chance.choice(("minContains", "maxContains"))] = chance.randrange(3)
    return schema


Maker = Callable[[Random, Callable[[], Any]], dict[str, Any]]


def _one(keyword: str) -> Maker:
    return lambda chance, inner: {keyword: inner()}


def _listed(keyword: str) -> Maker:
    return lambda chance, inner: {keyword: [inner() for _ in range(chance.randrange(1, 4))]}


def _number(keyword: str, *choices: float) -> Maker:
    return lambda chance, inner: {keyword: chance.choice(choices)}


_PLAIN: dict[str, Maker] = {
    "type": lambda chance, inner: {"type": chance.choice((*_TYPES, ["null", "boolean", "object"]))},
    "enum": lambda chance, inner: {"enum": [_value(chance, 2) for _ in range(chance.randrange(1, 4))]},
    "const": lambda chance, inner: {"const": _value(chance, 2)},
    "required": lambda chance, inner: {"required": chance.sample(_NAMES, 2)},
    "dependentRequired": lambda chance, inner: {"dependentRequired": {"a": ["b"]}},
    "uniqueItems": lambda chance, inner: {"uniqueItems": True},
    "pattern": lambda chance, inner: {"pattern": chance.choice(("^a", "b$", "1"))},
    "multipleOf": _number("multipleOf", 1, 2, 0.5),
    **{key: _number(key, 0, 1, 2, 1.5) for key in ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")},
    **{f"{end}{what}": _number(f"{end}{what}", 0, 1, 2) for end in ("min", "max") for what in ("Length", "Items")},
    **{f"{end}Properties": _number(f"{end}Properties", 0, 1, 2) for end in ("min", "max")},
}
_APPLIED: dict[str, Maker] = {
    **{key: _listed(key) for key in ("allOf", "anyOf", "oneOf", "prefixItems")},
    **{key: _one(key) for key in ("not", "contains", "propertyNames", "additionalProperties", "additionalItems")},
    **{key: _one(key) for key in ("unevaluatedProperties", "unevaluatedItems", "if", "then", "else")},
    "properties": lambda chance, inner: {"properties": {name: inner() for name in chance.sample(_NAMES, 2)}},
    "patternProperties": lambda chance, inner: {"patternProperties": {chance.choice(("^a", "b", "c")): inner()}},
    "dependentSchemas": lambda chance, inner: {"dependentSchemas": {"a": inner()}},
    "$ref": lambda chance, inner: {"$ref": chance.choice(("#/definitions/x", "#/definitions/y"))},
}
