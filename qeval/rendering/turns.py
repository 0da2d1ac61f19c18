"""A conversation as a chat template is given it, in one of the ways of `qeval.rendering.ways`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from qeval.chat import Message, Tool, ToolCall
from qeval.jsonl import loads
from qeval.rendering.ways import Way

TOOLS_TEXT = (
    "You can call these tools. To call one, answer only with JSON: "
    '{"name": "<tool>", "arguments": {"<argument>": <value>}}. '
    "To call several, answer with a JSON list of such objects. If no tool fits, answer in words.\nTools:\n"
)
"""What precedes the list of tools where a template does not take tools."""


Turn = dict[str, Any]
"""A message as a template is given it."""


class Conversation(NamedTuple):
    """What is said to a model: the part of a case that becomes its prompt."""

    messages: tuple[Message, ...]
    tools: tuple[Tool, ...] = ()


class Given(NamedTuple):
    """What a template is given."""

    messages: list[Turn]
    tools: list[dict[str, Any]] | None
    """None where there are none, or where they are described in the system text."""


def given(conversation: Conversation, way: Way) -> Given:
    """Return a conversation as a template is given it."""
    if way.several == "one by one":
        conversation = conversation._replace(messages=_one_by_one(conversation.messages))
    ids = _Ids(conversation.messages, way)
    turns = [turn for place, message in enumerate(conversation.messages) for turn in _turns(place, message, ids, way)]
    described = conversation.tools and way.tools == "text"
    if described:
        turns = _describe_tools(turns, conversation.tools)
    if way.system == "folded":
        turns = _fold_system(turns)
    turns = _merge_user_turns(turns)
    if way.content == "parts":
        turns = [_in_parts(turn) for turn in turns]
    tools = [_tool_dict(tool) for tool in conversation.tools] if conversation.tools and not described else None
    return Given(turns, tools)


def called_by(messages: Sequence[Message]) -> dict[int, tuple[int, int]]:
    """Say which call each result is of: place of the result -> places of the calling turn and of the call in it.

    A result belongs to the call with its id, else to the next call of its tool, else to the next call.
    """
    found: dict[int, tuple[int, int]] = {}
    turn, open_calls = -1, list[int]()
    for place, message in enumerate(messages):
        if message.role != "tool":
            turn, open_calls = place, list(range(len(message.tool_calls)))
        elif open_calls:
            call = _call_of(message, messages[turn].tool_calls, open_calls)
            open_calls.remove(call)
            found[place] = (turn, call)
    return found


def _call_of(result: Message, calls: Sequence[ToolCall], open_calls: Sequence[int]) -> int:
    by_id = [at for at in open_calls if calls[at].id is not None and calls[at].id == result.tool_call_id]
    by_name = [at for at in open_calls if calls[at].name == result.name]
    return next(iter((*by_id, *by_name, *open_calls)))


def _one_by_one(messages: Sequence[Message]) -> tuple[Message, ...]:
    """Give every call a turn of its own, followed by its result; what was said beside them stays with the first."""
    results = {call: place for place, call in called_by(messages).items()}
    several = {place for place, message in enumerate(messages) if len(message.tool_calls) > 1}
    moved = {place for (turn, _), place in results.items() if turn in several}
    parted: list[Message] = []
    for place, message in enumerate(messages):
        if place in several:
            for at, call in enumerate(message.tool_calls):
                content = "" if at else message.content
                parted.append(message.model_copy(update={"tool_calls": (call,), "content": content}))
                parted += [messages[results[place, at]]] if (place, at) in results else []
        elif place not in moved:
            parted.append(message)
    return tuple(parted)


class _Ids:
    """The ids and the tools of calls and results, in one way."""

    def __init__(self, messages: Sequence[Message], way: Way) -> None:
        self._form = way.call_ids
        calls = [(place, at) for place, message in enumerate(messages) for at in range(len(message.tool_calls))]
        self._numbers = {call: number for number, call in enumerate(calls)}
        self._names = {call: messages[call[0]].tool_calls[call[1]].name for call in calls}
        self._called_by = called_by(messages)

    def of_call(self, place: int, at: int) -> str | None:
        if self._form == "letters":
            return f"call{self._numbers[place, at]:05}"
        return f"functions.{self._names[place, at]}:{self._numbers[place, at]}" if self._form == "names" else None

    def of_result(self, place: int) -> str | None:
        call = self._called_by.get(place)
        return None if call is None else self.of_call(*call)

    def name(self, place: int) -> str | None:
        """Return the name of the tool whose call a result answers."""
        call = self._called_by.get(place)
        return None if call is None else self._names[call]


def _turns(place: int, message: Message, ids: _Ids, way: Way) -> Iterator[Turn]:
    if message.role == "tool":
        yield _result_turn(place, message, ids, way)
    elif message.tool_calls and way.calls == "text":
        calls = "\n".join(_name_first(call) for call in message.tool_calls)
        yield {"role": "assistant", "content": f"{message.content}\n{calls}".strip()}
    elif message.tool_calls:
        apart = bool(message.content) and way.spoken == "before the call"
        if apart:
            yield {"role": "assistant", "content": message.content}
        yield _calling_turn(place, message, "" if apart else message.content, ids, way)
    else:
        yield {"role": message.role, "content": message.content}


def _calling_turn(place: int, message: Message, content: str, ids: _Ids, way: Way) -> Turn:
    turn: Turn = {"role": "assistant", "content": content}
    if not content and way.call_content == "none":
        turn["content"] = None
    if not content and way.call_content == "absent":
        del turn["content"]
    turn["tool_calls"] = [
        {
            **_key("id", ids.of_call(place, at)),
            "type": "function",
            "function": {"name": call.name, "arguments": _arguments(call.arguments, way)},
        }
        for at, call in enumerate(message.tool_calls)
    ]
    return turn


def _arguments(arguments: Mapping[str, Any], way: Way) -> dict[str, Any] | str:
    return json.dumps(arguments, ensure_ascii=False) if way.arguments == "text" else dict(arguments)


def _result_turn(place: int, message: Message, ids: _Ids, way: Way) -> Turn:
    name = message.name or ids.name(place)
    if way.results == "text":
        return {"role": "user", "content": f"Result of {name or 'the tool'}: {message.content}"}
    content: Any = message.content
    if way.result_content == "object":
        content = _own_object(message.content) or {"result": message.content}
    named = _key("name", name if way.result_name == "given" else None)
    return {"role": "tool", "content": content, **named, **_key("tool_call_id", ids.of_result(place))}


def _own_object(text: str) -> dict[str, Any] | None:
    try:
        value = loads(text, lenient=True)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _key(name: str, value: str | None) -> dict[str, str]:
    return {} if value is None else {name: value}


def _describe_tools(turns: list[Turn], tools: Sequence[Tool]) -> list[Turn]:
    text = TOOLS_TEXT + "\n".join(_name_first(tool) for tool in tools)
    if turns[0]["role"] != "system":
        return [{"role": "system", "content": text}, *turns]
    return [{"role": "system", "content": f"{turns[0]['content']}\n\n{text}"}, *turns[1:]]


def _name_first(spoken: Tool | ToolCall) -> str:
    """Write a tool or a call as JSON in the order of its fields: a model reads, and imitates, the name first."""
    return json.dumps(spoken.model_dump(mode="json", exclude={"id"}), ensure_ascii=False)


def _fold_system(turns: list[Turn]) -> list[Turn]:
    if turns[0]["role"] != "system":
        return turns
    first, second, *rest = turns
    if second["role"] != "user":
        return [{**first, "role": "user"}, second, *rest]
    return [{**second, "content": f"{first['content']}\n\n{second['content']}"}, *rest]


def _merge_user_turns(turns: list[Turn]) -> list[Turn]:
    """Join neighbouring user turns (several tool results become them), since templates want turns to alternate."""
    merged: list[Turn] = []
    for turn in turns:
        if merged and merged[-1]["role"] == turn["role"] == "user":
            merged[-1] = {**turn, "content": f"{merged[-1]['content']}\n{turn['content']}"}
        else:
            merged.append(turn)
    return merged


def _in_parts(turn: Turn) -> Turn:
    text = turn.get("content")
    if not isinstance(text, str):
        return turn
    return {**turn, "content": [{"type": "text", "text": text}] if text else []}


def _tool_dict(tool: Tool) -> dict[str, Any]:
    return {"type": "function", "function": tool.model_dump(mode="json")}
