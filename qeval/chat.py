"""What is said to a model and by it: messages, tools, calls. The smallest shared vocabulary."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from qeval.strict import Strict
from qeval.text_kinds import ModelText, TextKind

_WRAPPER = frozenset({"type", "name", "description", "strict", "schema"})
_RESPONSE_FORMAT = "json_schema"


def bare_schema(value: object) -> object:
    """Return the JSON Schema that the chat-completions format wraps, or the value itself where nothing is wrapped.

    Read as a schema, the wrapper would accept everything, since none of its keys is a keyword that checks anything.

    >>> bare_schema({"name": "x", "strict": True, "schema": {"type": "object"}})
    {'type': 'object'}
    >>> bare_schema({"type": "json_schema", "json_schema": {"name": "x", "schema": {"type": "object"}}})
    {'type': 'object'}
    """
    if not isinstance(value, Mapping):
        return value
    named = value.get("type", _RESPONSE_FORMAT) == _RESPONSE_FORMAT
    if named and _RESPONSE_FORMAT in value and set(value) <= {"type", _RESPONSE_FORMAT}:
        return bare_schema(value[_RESPONSE_FORMAT])
    inside = value.get("schema")
    return inside if named and set(value) <= _WRAPPER and isinstance(inside, Mapping | bool) else value


BareSchema = BeforeValidator(bare_schema)
"""For a field with a JSON Schema: takes it out of its wrapper."""


class ToolCall(Strict):
    """One call of a tool, with its arguments as JSON values."""

    name: ModelText
    arguments: Annotated[dict[str, Any], TextKind.MODEL] = Field(default_factory=dict)
    id: ModelText | None = Field(default=None, exclude_if=operator.not_)
    """What a result names as its `tool_call_id`; needed where results come in another order than their calls.

    Left out of what is written where there is none, so that suites without ids keep their digests."""


class Message(Strict):
    """One turn of a conversation, in the roles of the chat-completions format."""

    role: Literal["system", "user", "assistant", "tool"]
    content: str = ""
    name: str | None = None
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None


class Tool(Strict):
    """A function the model may call; `parameters` is a JSON Schema of its arguments."""

    name: str = Field(min_length=1)
    description: str = ""
    parameters: Annotated[dict[str, Any], BareSchema] = Field(
        default_factory=lambda: {"type": "object", "properties": {}}
    )
