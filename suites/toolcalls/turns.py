"""Turns of a conversation, as cases hold them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, NamedTuple

Turn = dict[str, Any]
Call = dict[str, Any]


class Request(NamedTuple):
    """A request in words and the call that serves it."""

    text: str
    call: Call


def shown(requests: Iterable[Request]) -> list[Turn]:
    """Return requests with their calls, as plain text turns."""
    return [turn for request in requests for turn in (user(request.text), says(dumps(request.call)))]


def user(text: str) -> Turn:
    """Return a turn of the user."""
    return {"role": "user", "content": text}


def says(text: str) -> Turn:
    """Return a turn of the assistant in words."""
    return {"role": "assistant", "content": text}


def called(call: Call) -> Turn:
    """Return a turn of the assistant that makes a call."""
    return {"role": "assistant", "tool_calls": [call]}


def returned(call: Call, result: Any) -> Turn:  # noqa: ANN401 - any JSON value
    """Return the turn in which a tool answers a call."""
    return {"role": "tool", "name": call["name"], "content": dumps(result)}


def dumps(value: Any) -> str:  # noqa: ANN401 - any JSON value
    """Write a JSON value as the examples show it: letters of all scripts as they are."""
    return json.dumps(value, ensure_ascii=False)
