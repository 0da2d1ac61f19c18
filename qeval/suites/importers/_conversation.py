"""A column that holds a whole conversation: chat-completions messages, or ShareGPT's `from` and `value`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from qeval.jsonl import loads
from qeval.suites.importers._templates import RowError
from qeval.suites.importers._turns import TurnError, messages_of

COLUMNS = ("messages", "conversations", "conversation")
"""Names of columns that are taken for a conversation where a mapping names neither a prompt nor messages."""
_ROLES = {
    "human": "user",
    "gpt": "assistant",
    "chatgpt": "assistant",
    "bot": "assistant",
    "model": "assistant",
    "function_call": "assistant",
    "observation": "tool",
    "function_response": "tool",
}
"""Roles of ShareGPT; others go by their own name."""


class Conversation(NamedTuple):
    """What a row holds."""

    messages: list[dict[str, Any]]
    """Up to the last turn that is not the assistant's."""
    answer: str | None
    """The assistant's text after it; None where there is none."""


def conversation_of(value: object) -> Conversation:
    """Return the conversation of a row.

    Args:
        value: turns, as a list, as JSON text, or as lists of the turns' fields (some readers of datasets turn them so).

    Raises:
        RowError: it is no conversation, or ends before anybody asks.
    """
    try:
        messages = messages_of([_turn(turn) for turn in _turns(value)])
    except TurnError as error:
        raise RowError(str(error)) from error
    answer = None
    while messages and messages[-1]["role"] == "assistant":
        answer = messages.pop()["content"]
    if not any(message["role"] == "user" for message in messages):
        raise RowError("a conversation in which no user asks")
    return Conversation(messages, answer or None)


def _turns(value: object) -> list[Mapping[str, Any]]:
    if isinstance(value, str):
        try:
            value = loads(value)
        except ValueError as error:
            raise RowError("a conversation that is text and no JSON") from error
    if isinstance(value, Mapping) and value and all(isinstance(part, list) for part in value.values()):
        if len({len(part) for part in value.values()}) > 1:
            raise RowError("a conversation whose fields are lists of different lengths")
        value = [dict(zip(value, fields, strict=True)) for fields in zip(*value.values(), strict=True)]
    if not isinstance(value, list) or not value or not all(isinstance(turn, Mapping) for turn in value):
        raise RowError("a conversation that is no list of turns")
    return value


def _turn(turn: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a turn with `role` and `content`; one of chat-completions as it is."""
    if turn.get("from") is None:
        return turn
    role = str(turn["from"])
    if role == "function_call":
        return {"role": "assistant", "content": "", "tool_calls": [{"function": _call(turn.get("value"))}]}
    return {"role": _ROLES.get(role, role), "content": turn.get("value")}


def _call(value: object) -> object:
    try:
        return loads(value) if isinstance(value, str) else value
    except ValueError as error:
        raise RowError("a function call of a conversation is no JSON") from error
