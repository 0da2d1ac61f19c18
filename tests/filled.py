"""Values of a type in which every place for text holds a text of its own, found by walking the type."""

from __future__ import annotations

from collections.abc import Callable
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from pydantic import BaseModel

from qeval.text_kinds import TextKind

M = TypeVar("M", bound=BaseModel)

Write = Callable[[str, TextKind | None], str]
"""A path and the kind of text there, to the text."""


def filled(model: type[M], write: Write, path: str = "") -> M:
    """Build a value without validation: one item in every tuple and object, nothing None but what holds no text."""
    hints = get_type_hints(model, include_extras=True)
    at = path or model.__name__
    return model.model_construct(**{name: _value(hints[name], write, f"{at}.{name}") for name in model.model_fields})


def _value(hint: Any, write: Write, path: str) -> Any:
    kind: TextKind | None = None
    while get_origin(hint) is Annotated:
        hint, *said = get_args(hint)
        kind = kind or next((one for one in said if isinstance(one, TextKind)), None)
    origin, parts = get_origin(hint), get_args(hint)
    if origin in {Union, UnionType}:
        return _value(next(part for part in parts if part is not NoneType), write, path)
    if hint is str:
        return write(path, kind)
    if origin is dict and kind is not None:
        return {write(f"{path}{{key}}", kind): [write(f"{path}{{}}", kind)]}
    if origin is dict:
        return {_value(parts[0], write, f"{path}{{key}}"): _value(parts[1], write, f"{path}{{}}")}
    if origin is tuple:
        inner = [part for part in parts if part is not Ellipsis]
        return tuple(_value(part, write, f"{path}[{number}]") for number, part in enumerate(inner))
    if origin is Literal:
        return parts[0]
    if isinstance(hint, type) and issubclass(hint, BaseModel):
        return filled(hint, write, path)
    return {int: 1, float: 0.5, bool: True, NoneType: None}[hint]
