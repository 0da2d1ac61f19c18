"""Whose words a text field holds, said by its type: so that what may leave is decided by kind, not by a list of names.

Every text in a record or a report is of one of these kinds, the keys of objects included, and a field of a plain `str`
is an error in the tests: whoever adds one has to say what it holds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import Enum
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, NamedTuple, TypeVar, Union, get_args, get_origin, get_type_hints

from pydantic import BaseModel

M = TypeVar("M", bound=BaseModel)


class TextKind(Enum):
    """Whose words a text is."""

    OWN = "written by qeval alone, about itself, the model or the machine: classes, digests, versions, times"
    NAME = "an identifier that a person chose: of a suite, case, tag, metric, variant or model"
    PERSON = "what a person wrote about a case: a tag's value, a cluster, a tenant"
    SLICE = "the name of a slice, in which values of tags stand"
    VALUES = "a tag's value in the key of a slice, or the values of a cross"
    MODEL = "what a model read or printed, or what may quote it: prompts, answers, arguments, reasons, exceptions"
    COMPOSED = "a sentence of qeval's in which any of the others may stand"
    POLICY = "a whole policy, as an object"


Own = Annotated[str, TextKind.OWN]
Name = Annotated[str, TextKind.NAME]
PersonText = Annotated[str, TextKind.PERSON]
SliceName = Annotated[str, TextKind.SLICE]
ModelText = Annotated[str, TextKind.MODEL]
Composed = Annotated[str, TextKind.COMPOSED]

How = Callable[[TextKind, Any], Any]
"""Rewrites a value, which is a text or a whole object, of a kind."""


class TextField(NamedTuple):
    """A place for text in a type."""

    path: str
    """Such as `Report.changed[].tags{}`; `{key}` for the keys of an object."""
    kind: TextKind | None
    """None: nobody has said what it holds."""


def text_fields(hint: Any, path: str = "") -> Iterator[TextField]:  # noqa: ANN401 - any type
    """Yield every place for text that a type has, in whatever it is nested."""
    kind, base = _kind(hint)
    origin, parts = get_origin(base), get_args(base)
    if kind is not None:
        yield TextField(path, kind)
    elif base is str or base is Any:
        yield TextField(path, None)
    elif _is_model(base):
        for name, inner in _fields(base).items():
            yield from text_fields(inner, f"{path or base.__name__}.{name}")
    elif origin in {Union, UnionType}:
        for part in parts:
            yield from text_fields(part, path)
    elif origin is dict:
        yield from text_fields(parts[0], f"{path}{{key}}")
        yield from text_fields(parts[1], f"{path}{{}}")
    elif origin is tuple:
        for number, part in enumerate(part for part in parts if part is not Ellipsis):
            yield from text_fields(part, f"{path}[]" if Ellipsis in parts else f"{path}[{number}]")


def rewrite(value: M, how: How) -> M:
    """Return a value with every text in it rewritten by its kind; everything else stays.

    Raises:
        TypeError: a text whose kind nobody has said.
    """
    rewritten: M = _rewritten(type(value), value, how)
    return rewritten


def _rewritten(hint: Any, value: Any, how: How) -> Any:  # noqa: ANN401 - any type and its value
    kind, base = _kind(hint)
    if value is None or not _has_text(hint):
        return value
    if kind is not None:
        return how(kind, value)
    origin, parts = get_origin(base), get_args(base)
    if _is_model(base):
        # The runtime type, since a field may hold a more special model than it says.
        fields = _fields(type(value))  # type: ignore[arg-type] # a class is hashable
        return value.model_copy(update={name: _rewritten(fields[name], getattr(value, name), how) for name in fields})
    if origin in {Union, UnionType}:
        return _rewritten(next(part for part in parts if _fits(part, value)), value, how)
    if origin is dict:
        return {_rewritten(parts[0], key, how): _rewritten(parts[1], item, how) for key, item in value.items()}
    if origin is tuple:
        inner = [parts[0]] * len(value) if Ellipsis in parts else parts
        return tuple(_rewritten(part, item, how) for part, item in zip(inner, value, strict=True))
    raise TypeError(f"a text of type {hint}: nobody has said whose words it holds")


@cache
def _fields(model: type[BaseModel]) -> dict[str, Any]:
    hints = get_type_hints(model, include_extras=True)
    return {name: hints[name] for name in model.model_fields}


def _kind(hint: Any) -> tuple[TextKind | None, Any]:  # noqa: ANN401 - any type
    """Return the kind that a type says, and the type without its annotations."""
    kind = None
    while get_origin(hint) is Annotated:
        hint, *said = get_args(hint)
        kind = kind or next((one for one in said if isinstance(one, TextKind)), None)
    return kind, hint


@cache
def _has_text(hint: Any) -> bool:  # noqa: ANN401 - any type
    return any(True for _ in text_fields(hint))


def _is_model(hint: Any) -> bool:  # noqa: ANN401 - any type
    return isinstance(hint, type) and issubclass(hint, BaseModel)


def _fits(hint: Any, value: object) -> bool:  # noqa: ANN401 - any type
    base = _kind(hint)[1]
    origin = get_origin(base)
    if origin is Literal:
        return value in get_args(base)
    kind = origin or base
    return kind is not NoneType and isinstance(kind, type) and isinstance(value, kind)
