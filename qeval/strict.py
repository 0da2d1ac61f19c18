"""The base of everything that is written to or read from a file: frozen, strictly validated types.

An unknown key is an error that names its path, what is allowed and the nearest allowed name.
"""

from __future__ import annotations

from pathlib import Path
from types import UnionType
from typing import Any, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, ConfigDict, ValidationError

from qeval.bounded_yaml import read_yaml
from qeval.errors import UsageError, did_you_mean

T = TypeVar("T", bound="Strict")


_SAID = {
    "tuple_type": "it must be a list",
    "dict_type": "it must be an object (keys with values)",
    "model_type": "it must be an object (keys with values)",
}
"""In the words of files what pydantic says in those of Python."""


class Strict(BaseModel):
    """A frozen value whose unknown keys are errors and whose floats are finite."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False, protected_namespaces=())


def validate(kind: type[T], value: object, where: str) -> T:
    """Check what a person wrote against a type.

    Args:
        kind: the type to build.
        value: what was read from the file.
        where: file, and line or case id, as the message shall name it.

    Raises:
        UsageError: every fault found, each with its key, what is allowed, and "did you mean".
    """
    try:
        return kind.model_validate(value)
    except ValidationError as error:
        faults = [_fault(kind, fault) for fault in error.errors(include_url=False)]
        raise UsageError(f"{where}: " + "; ".join(dict.fromkeys(faults)) + ".") from error


def _fault(kind: type[BaseModel], fault: Any) -> str:  # noqa: ANN401 - pydantic's ErrorDetails
    path = [str(part) for part in fault["loc"]]
    key = ".".join(path)
    place = f"key '{key}'" if key else "the content"
    if fault["type"] == "extra_forbidden":
        allowed = _fields_at(kind, fault["loc"][:-1])
        hint = did_you_mean(path[-1], allowed)
        listing = f" Allowed: {', '.join(sorted(allowed))}" if allowed else ""
        return f"unknown key '{key}'.{hint}{listing}"
    if fault["type"] == "missing":
        return f"key '{key}' is missing"
    # What qeval's own validators say is a whole sentence already.
    if fault["type"] == "value_error":
        message = fault["msg"].removeprefix("Value error, ")
        return f"{place}: {message}" if key else message
    shown = repr(fault["input"])
    said = _SAID.get(fault["type"], fault["msg"])
    return f"{place}: {said}, not {shown if len(shown) <= 60 else shown[:57] + '...'}"


def _fields_at(kind: Any, path: tuple[Any, ...]) -> list[str]:  # noqa: ANN401 - walks type annotations
    """Return the field names of the model found by walking `path` down from `kind`."""
    models = _models_in(kind)
    for part in path:
        inner = [_models_in(model.model_fields[part].annotation) for model in models if part in model.model_fields]
        # Parts that are list indexes, dictionary keys or union tags do not lead to another model.
        models = [model for found in inner for model in found] or models
    return sorted({name for model in models for name in _public_names(model)})


def _public_names(model: type[BaseModel]) -> list[str]:
    return [field.alias or name for name, field in model.model_fields.items()]


def _models_in(annotation: Any) -> list[type[BaseModel]]:  # noqa: ANN401 - any annotation
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    if get_origin(annotation) in {Union, UnionType, tuple, list, dict} or get_args(annotation):
        return [model for part in get_args(annotation) for model in _models_in(part)]
    return []


def load_yaml(kind: type[T], path: Path) -> T:
    """Read and check a YAML file that a person wrote."""
    value = read_yaml(path)
    return validate(kind, {} if value is None else value, str(path))
