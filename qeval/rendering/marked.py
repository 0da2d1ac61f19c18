"""A conversation with a word of its own in the place of each text, name and value.

Whether a template shows all places of a conversation can be told surely by such words, where the conversation's own
texts may be short, stand in it twice, or be changed by the template. It cannot tell what a template does for the sake
of what a text says; `qeval.rendering.present` looks at that.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import count
from typing import Any, NamedTuple

from qeval.chat import Message, Tool, ToolCall
from qeval.rendering.present import said_in
from qeval.rendering.turns import Conversation, called_by
from qeval.rendering.ways import Features

_RESULT_OF = "tool"
_MOST_CALLS = 2
"""Calls of a turn, and results after it, in what stands for conversations of like shape."""


class Marked(NamedTuple):
    """A marked conversation."""

    conversation: Conversation
    words: tuple[str, ...]
    """What must be in its prompt."""
    calls: tuple[str, ...]
    results: tuple[str, ...]
    """Of these, one of each call and of each result, whose order matters."""
    arguments: tuple[str, ...]
    """Names of arguments."""

    def is_shown(self, text: str) -> bool:
        """Whether a rendered prompt holds every word, calls and results in their order."""
        in_order = all(_is_sorted([text.find(word) for word in words]) for words in (self.calls, self.results))
        return in_order and all(word in text for word in self.words)

    def is_as_python(self, text: str) -> bool:
        """Whether arguments are written as Python prints an object: the template takes JSON text, and was given one."""
        return any(f"'{name}':" in text for name in self.arguments)


def mark(conversation: Conversation) -> Marked:
    """Mark a conversation as it is; the names of arguments and the parameters of tools stay."""
    return _Marker(keys=False).mark(conversation)


def mark_shape(conversation: Conversation) -> Marked:
    """Mark a short conversation of the same shape; equal for all of one shape, with tools of the plainest kind."""
    tool = Tool(
        name="tool",
        description="what it does",
        parameters={"type": "object", "properties": {"key": {"type": "string", "description": "what it is"}}},
    )
    tools = (tool,) if conversation.tools else ()
    return _Marker(keys=True).mark(Conversation(_shortened(conversation.messages), tools))


def features(conversation: Conversation) -> Features:
    """Return what decides which ways differ for a conversation."""
    calling = [message for message in conversation.messages if message.tool_calls]
    return Features(
        system=conversation.messages[0].role == "system",
        tools=bool(conversation.tools),
        calls=bool(calling),
        spoken_calls=any(message.content for message in calling),
        several_calls=any(len(message.tool_calls) > 1 for message in calling),
        results=any(message.role == "tool" for message in conversation.messages),
    )


class _Marker:
    """Gives out words and numbers, no one within another."""

    def __init__(self, *, keys: bool) -> None:
        self._numbers = count()
        self._keys = keys
        self._words: list[str] = []
        self._calls: list[str] = []
        self._results: list[str] = []
        self._arguments: list[str] = []

    def mark(self, conversation: Conversation) -> Marked:
        tools = tuple(map(self._tool, conversation.tools))
        messages = list(map(self._message, conversation.messages))
        for place in called_by(conversation.messages):
            # Not the call's: it would hide that the call is not shown.
            messages[place] = messages[place].model_copy(update={"name": _RESULT_OF})
        marked = Conversation(tuple(messages), tools)
        return Marked(marked, *map(tuple, (self._words, self._calls, self._results, self._arguments)))

    def _word(self) -> str:
        word = f"zq{next(self._numbers):05}".translate(_AS_LETTERS)
        self._words.append(word)
        return word

    def _tool(self, tool: Tool) -> Tool:
        return tool.model_copy(
            update={
                "name": self._word(),
                "description": self._word() if tool.description else "",
                "parameters": self._schema(tool.parameters) if self._keys else tool.parameters,
            }
        )

    def _schema(self, schema: Mapping[str, Any]) -> dict[str, Any]:
        named = {self._word(): value for value in schema["properties"].values()}
        return {**schema, "properties": named, "required": list(named)}

    def _message(self, message: Message) -> Message:
        calls = tuple(map(self._call, message.tool_calls))
        # Blanks, and a thought without an answer, stay: nothing of them must be shown, and they may not be left out.
        content = self._word() if said_in(message).strip() else message.content
        if content.strip() and message.role == "tool":
            self._results.append(content)
        return message.model_copy(update={"content": content, "tool_calls": calls})

    def _call(self, call: ToolCall) -> ToolCall:
        # A name of its own: the tool's stands in the list of tools, and would hide that the call is not shown.
        name = self._word()
        self._calls.append(name)
        arguments = self._value(call.arguments)
        self._arguments += arguments
        return call.model_copy(update={"name": name, "arguments": arguments})

    def _value(self, value: Any) -> Any:  # noqa: ANN401 - a JSON value
        if isinstance(value, Mapping):
            return {self._key(key, inner): self._value(inner) for key, inner in value.items()}
        if isinstance(value, list):
            return [self._value(inner) for inner in value]
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, int | float):
            number = 7_300_000 + next(self._numbers)
            self._words.append(str(number))
            return number if isinstance(value, int) else number + 0.5
        return self._word() if value.strip() else value

    def _key(self, key: str, value: object) -> str:
        # Some templates leave out an argument that is null.
        return self._word() if self._keys and value is not None else key


def _is_sorted(places: list[int]) -> bool:
    return places == sorted(places)


_AS_LETTERS = str.maketrans("0123456789", "abcdefghij")


def _shortened(messages: Sequence[Message]) -> tuple[Message, ...]:
    """Return the conversation without what it holds again: exchanges and steps of one shape, calls past the second."""
    system = messages[:1] if messages[0].role == "system" else ()
    exchanges = [_short_exchange(exchange) for exchange in _exchanges(messages[len(system) :])]
    kept = _first_of_each(exchanges[:-1])
    return (*system, *(message for exchange in [*kept, exchanges[-1]] for message in exchange))


def _exchanges(messages: Sequence[Message]) -> list[list[Message]]:
    """Cut a conversation before each turn of the user."""
    found: list[list[Message]] = []
    for message in messages:
        if message.role == "user" or not found:
            found.append([])
        found[-1].append(message)
    return found


def _short_exchange(exchange: Sequence[Message]) -> tuple[Message, ...]:
    """Keep each step of an exchange (a turn of the assistant with its results) once, and the last."""
    steps: list[list[Message]] = []
    for message in exchange:
        if message.role != "tool" or not steps:
            steps.append([])
        if message.role != "tool" or len(steps[-1]) <= _MOST_CALLS:
            steps[-1].append(_plain(message))
    kept = _first_of_each([tuple(step) for step in steps[:-1]])
    return tuple(message for step in [*kept, tuple(steps[-1])] for message in step)


def _plain(message: Message) -> Message:
    """Return a message with few calls, each with one argument of each kind, and without ids and the result's tool."""
    calls = [ToolCall(name="tool", arguments=_few_values(call.arguments)) for call in message.tool_calls[:_MOST_CALLS]]
    return Message(role=message.role, content=message.content, tool_calls=tuple(calls))


def _few_values(value: Any) -> Any:  # noqa: ANN401 - a JSON value
    if isinstance(value, Mapping):
        by_kind = {repr(_kinds(inner)): (key, _few_values(inner)) for key, inner in value.items()}
        return dict(by_kind[kind] for kind in sorted(by_kind))
    if isinstance(value, list):
        by_kind = {repr(_kinds(inner)): _few_values(inner) for inner in value}
        return [by_kind[kind] for kind in sorted(by_kind)]
    return True if isinstance(value, bool) else value


def _first_of_each(parts: Iterable[tuple[Message, ...]]) -> list[tuple[Message, ...]]:
    firsts: dict[str, tuple[Message, ...]] = {}
    for part in parts:
        firsts.setdefault(repr([_shape_of(message) for message in part]), part)
    return list(firsts.values())


def _shape_of(message: Message) -> object:
    return message.role, bool(message.content.strip()), tuple(_kinds(call.arguments) for call in message.tool_calls)


def _kinds(value: Any) -> object:  # noqa: ANN401 - a JSON value
    """Return what kinds of values a JSON value holds, whatever their names and numbers."""
    if isinstance(value, Mapping):
        return "object", sorted({repr(_kinds(inner)) for inner in value.values()})
    if isinstance(value, list):
        return "list", sorted({repr(_kinds(inner)) for inner in value})
    return type(value).__name__, value == ""
