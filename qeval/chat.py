"""What is said to a model and by it: messages, tools, calls. The smallest shared vocabulary."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from qeval.strict import Strict
from qeval.text_kinds import ModelText, TextKind


class ToolCall(Strict):
    """One call of a tool, with its arguments as JSON values."""

    name: ModelText
    arguments: Annotated[dict[str, Any], TextKind.MODEL] = Field(default_factory=dict)


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
