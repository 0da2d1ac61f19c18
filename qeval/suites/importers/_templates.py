"""Templates over the columns of a row: Jinja2 in its sandbox, where a column that is not there is an error."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

from qeval.errors import UsageError, did_you_mean

if TYPE_CHECKING:
    from jinja2.sandbox import ImmutableSandboxedEnvironment

_WHOLE = re.compile(r"\s*\{\{((?:(?!\{\{|\}\}).)*)\}\}\s*", re.DOTALL)
"""A text that is one expression and nothing else: its value keeps its type."""
_FAULTS = (ArithmeticError, AttributeError, LookupError, MemoryError, RuntimeError, TypeError, ValueError)
"""What a person's expression may raise beside Jinja2's own errors."""


class RowError(ValueError):
    """A template cannot be filled from a row; the message is the reason, alike for all rows that share it."""

    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(reason)
        self.detail = detail
        """What is particular to this row."""


class _NullError(ValueError):
    """An expression is null, which must not become the word None."""


class _BytesError(ValueError):
    """An expression is bytes, which must not become text as Python writes it."""


def _no_null(value: object) -> object:
    # A number that is not there is NaN in many tables.
    if value is None or (isinstance(value, float) and math.isnan(value)):
        raise _NullError
    if isinstance(value, bytes):
        raise _BytesError
    return value


@cache
def _environment() -> ImmutableSandboxedEnvironment:
    from jinja2 import StrictUndefined
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    environment = ImmutableSandboxedEnvironment(
        undefined=StrictUndefined, finalize=_no_null, keep_trailing_newline=True, autoescape=False
    )
    # What differs from call to call; an import made twice is the same to the byte.
    del environment.globals["lipsum"], environment.filters["random"]
    return environment


def check_template(text: str, columns: Iterable[str], where: str) -> None:
    """Check a template before any row is read.

    Args:
        text: the template.
        columns: the columns that rows have.
        where: file and key, for the message.

    Raises:
        UsageError: it is no Jinja2, or names a column that is not there.
    """
    from jinja2 import TemplateError, meta

    try:
        names = meta.find_undeclared_variables(_environment().parse(text))
        _template(text)  # names a filter that does not exist
    except TemplateError as error:
        raise UsageError(f"{where}: not a Jinja2 template ({error.message}).") from error
    except (SyntaxError, *_FAULTS) as error:
        # Jinja2 writes Python, whose compiler has limits of its own, such as a hundred brackets.
        raise UsageError(f"{where}: not a Jinja2 template ({type(error).__name__}: {error}).") from error
    there = sorted(columns)
    unknown = sorted(names - {*there, *_environment().globals})
    if unknown:
        hint = did_you_mean(unknown[0], there)
        raise UsageError(f"{where}: no column '{unknown[0]}'.{hint} There is {', '.join(there)}.")


def fill(text: str, row: Mapping[str, Any]) -> str:
    """Fill a template from a row, to text.

    Raises:
        RowError: the row lacks a column, a value is null, or the template fails on it.
    """
    return str(_run(lambda: _template(text).render(row)))


def fill_value(value: Any, row: Mapping[str, Any]) -> Any:  # noqa: ANN401 - any JSON value
    """Fill all templates within a JSON value; a text that is one expression gives that expression's own value.

    Raises:
        RowError: as `fill`, or the value is no JSON (a date, bytes).

    >>> fill_value({"value": "{{ n }}", "text": "n={{ n }}"}, {"n": 4})
    {'value': 4, 'text': 'n=4'}
    """
    if isinstance(value, Mapping):
        return {key: fill_value(item, row) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [fill_value(item, row) for item in value]
    if not isinstance(value, str):
        return value
    whole = _WHOLE.fullmatch(value)
    if whole is None:
        return fill(value, row)
    result = _run(lambda: _no_null(_expression(whole[1])(**row)))
    try:
        return json.loads(json.dumps(result, allow_nan=False))
    except (TypeError, ValueError) as error:
        raise RowError(f"'{value}' is no JSON", f"it holds a {type(result).__name__}: {error}") from error


@lru_cache(maxsize=256)
def _template(text: str) -> Any:  # noqa: ANN401 - jinja2.Template
    return _environment().from_string(text)


@lru_cache(maxsize=256)
def _expression(text: str) -> Any:  # noqa: ANN401 - a function of the row
    return _environment().compile_expression(text, undefined_to_none=False)


def _run(render: Any) -> Any:  # noqa: ANN401 - any value
    from jinja2 import TemplateError, Undefined

    try:
        result = render()
        if isinstance(result, Undefined):
            str(result)  # a strict one says here what it lacks
    except _NullError as error:
        raise RowError("a value that a template needs is null") from error
    except _BytesError as error:
        raise RowError("a value that a template needs is bytes, not text") from error
    except (TemplateError, SyntaxError, *_FAULTS) as error:
        raise RowError("a template fails", str(error) or type(error).__name__) from error
    return result
