"""Calls that a log holds as text, read as the grader `tool_call` reads them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from pydantic import ValidationError

from qeval.chat import Tool
from qeval.grading import Answer
from qeval.grading._calls import read_calls


class UnreadableCallError(ValueError):
    """A logged answer is meant as a call and cannot be read; the message is the reason, alike for all that share it."""


def calls_in(text: str, tools: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the calls of a logged text, as a case expects them.

    Args:
        text: what the model answered.
        tools: what was offered, in the form of a case.

    Raises:
        UnreadableCallError: it is meant as a call, in no form that can be read.

    >>> calls_in('<tool_call>{"name": "f", "arguments": {"a": 0.5}}</tool_call>', [{"name": "f"}])
    [{'name': 'f', 'arguments': {'a': 0.5}}]
    """
    read = read_calls(Answer(text), _known(tools))
    if read.malformed is not None:
        raise UnreadableCallError("the logged answer is a call that cannot be read")
    return [{"name": call.name, "arguments": _plain(call.arguments)} for call in read.calls]


def _known(tools: Sequence[Mapping[str, Any]]) -> list[Tool]:
    """Return the tools that are valid; an invalid one is told when the case is checked."""
    known = []
    for tool in tools:
        try:
            known.append(Tool(**tool))
        except ValidationError:
            continue
    return known


def _plain(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    """Return a value with the numbers that a file holds in place of exact ones."""
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() and "." not in str(value) else float(value)
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list) else value
