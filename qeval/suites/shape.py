"""Shapes: JSON Schemas of objects in short, as word banks write them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def schema_of(shape: Any, *, closed: bool) -> dict[str, Any]:  # noqa: ANN401 - a shape is any JSON value
    """Return the JSON Schema that a shape is short for.

    A shape is `TYPE` or `TYPE|null`; `[shape]` for a list; `{key: shape, key?: shape}` for an object whose keys are
    required but for those with a question mark; `{one_of: [shape, ...]}`; `{map_of: shape}` for an object with any
    keys; or `{schema: {...}}`, a JSON Schema as it is.

    Args:
        shape: the shape.
        closed: whether objects allow no further key.

    >>> schema_of({"name": "string", "age?": "integer|null"}, closed=False)["required"]
    ['name']
    """
    if isinstance(shape, str):
        types = shape.split("|")
        return {"type": types[0] if len(types) == 1 else types}
    if isinstance(shape, list):
        return {"type": "array", "items": schema_of(shape[0], closed=closed)}
    if set(shape) == {"schema"}:
        return dict(shape["schema"])
    if set(shape) == {"one_of"}:
        return {"oneOf": [schema_of(branch, closed=closed) for branch in shape["one_of"]]}
    if set(shape) == {"map_of"}:
        return {"type": "object", "additionalProperties": schema_of(shape["map_of"], closed=closed)}
    return _object(shape, closed=closed)


def _object(shape: Mapping[str, Any], *, closed: bool) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {key.removesuffix("?"): schema_of(inner, closed=closed) for key, inner in shape.items()},
        "required": [key for key in shape if not key.endswith("?")],
        **({"additionalProperties": False} if closed else {}),
    }
