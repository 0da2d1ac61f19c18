"""What is said to a model and by it: messages, tools, calls. The smallest shared vocabulary."""

from __future__ import annotations

import operator
from typing import Any, Literal

from pydantic import Field

from qeval.strict import Strict


class ToolCall(Strict):
    """One call of a tool, with its arguments as JSON values."""

    name: str
    arguments: dict[str, Any] = Field(default_factory=dict)
    id: str | None = Field(default=None, exclude_if=operator.not_)
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
    parameters: dict[str, Any] = Field(default_factory=lambda: {"type": "object", "properties": {}})
