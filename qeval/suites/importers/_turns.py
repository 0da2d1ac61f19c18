"""Messages as products log them (chat-completions, LangChain, Anthropic), as the messages of a case."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from qeval.jsonl import dumps, loads

_ROLES = {
    "developer": "system",
    "system": "system",
    "human": "user",
    "user": "user",
    "ai": "assistant",
    "AIMessageChunk": "assistant",
    "assistant": "assistant",
    "function": "tool",
    "tool": "tool",
}
_THOUGHTS = frozenset({"thinking", "redacted_thinking", "reasoning"})
"""Parts that hold what the model thought, which is no part of what it said."""
_TEXT_PARTS = frozenset({"text", "input_text", "output_text", "refusal"})


class TurnError(ValueError):
    """A logged conversation cannot be a case; the message is the reason, alike for all that share it."""


def messages_of(logged: object, system: object = None) -> list[dict[str, Any]]:
    """Return logged messages in the form of a case; neighbours of one role (system, user, assistant) are joined.

    Args:
        logged: messages, or one user's text.
        system: the system text where it is logged apart (Anthropic), as text or parts; None or empty: there is none.

    Raises:
        TurnError: something other than text, an unknown role, or arguments of a call that are no JSON.
    """
    # LangChain logs a batch of conversations; there is one in it.
    if isinstance(logged, list) and len(logged) == 1 and isinstance(logged[0], list):
        logged = logged[0]
    if isinstance(logged, str):
        logged = [{"role": "user", "content": logged}]
    if not isinstance(logged, list) or not logged or not all(isinstance(turn, Mapping) for turn in logged):
        raise TurnError("no list of messages")
    if system:
        logged = [{"role": "system", "content": system}, *logged]
    joined: list[dict[str, Any]] = []
    for turn in map(message_of, logged):
        last = joined[-1] if joined else {}
        if turn["role"] == last.get("role") != "tool" and "tool_calls" not in {*turn, *last}:
            last["content"] = f"{last['content']}\n\n{turn['content']}"
        else:
            joined.append(turn)
    return joined


def message_of(turn: Mapping[str, Any]) -> dict[str, Any]:
    """Return one logged message in the form of a case.

    Raises:
        TurnError: see `messages_of`.
    """
    role = _ROLES.get(str(turn.get("role") or turn.get("type")))
    if role is None:
        raise TurnError(f"a message of the unknown role '{turn.get('role') or turn.get('type')}'")
    message: dict[str, Any] = {"role": role, "content": _text(turn.get("content")) or _refusal(turn)}
    calls = calls_of(turn)
    if calls:
        message["tool_calls"] = calls
    if role == "tool":
        for key in ("name", "tool_call_id"):
            if isinstance(turn.get(key), str):
                message[key] = turn[key]
    return message


def _text(content: object) -> str:
    """Return the text of a message's content: text itself, or parts that are text."""
    if content is None or isinstance(content, str):
        return content or ""
    if not isinstance(content, list | tuple):
        raise TurnError("a message's content is neither text nor a list of parts")
    texts = []
    for part in content:
        if isinstance(part, str):
            texts.append(part)
            continue
        kind = part.get("type", "text") if isinstance(part, Mapping) else type(part).__name__
        if kind == "tool_use" or kind in _THOUGHTS:
            continue
        text = (part.get("text") or part.get("refusal") or "") if kind in _TEXT_PARTS else None
        if not isinstance(text, str):
            raise TurnError(f"a message holds a part of type '{kind}'; only text can be replayed")
        texts.append(text)
    return "\n".join(texts)


def _refusal(turn: Mapping[str, Any]) -> str:
    """Return the text of a refusal, which chat-completions puts beside an empty content."""
    refusal = turn.get("refusal")
    return refusal if isinstance(refusal, str) else ""


def calls_of(turn: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the calls of an assistant's logged message.

    Raises:
        TurnError: arguments that are no JSON object.

    >>> calls_of({"tool_calls": [{"function": {"name": "f", "arguments": '{"a": 1}'}}]})
    [{'name': 'f', 'arguments': {'a': 1}}]
    """
    return [_call(call) for call in _raw_calls(turn)]


def _raw_calls(turn: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    more = turn.get("additional_kwargs")
    listed = turn.get("tool_calls") or (more.get("tool_calls") if isinstance(more, Mapping) else None) or []
    if not isinstance(listed, list) or not all(isinstance(call, Mapping) for call in listed):
        raise TurnError("the logged 'tool_calls' are no list of calls")
    for call in listed:
        inner = call.get("function") or call.get("custom") or call
        if not isinstance(inner, Mapping):
            raise TurnError("the logged 'tool_calls' are no list of calls")
        yield inner
    if isinstance(turn.get("function_call"), Mapping):
        yield turn["function_call"]
    content = turn.get("content")
    for part in content if isinstance(content, list) else ():
        if isinstance(part, Mapping) and part.get("type") == "tool_use":
            yield part


def _call(call: Mapping[str, Any]) -> dict[str, Any]:
    arguments: Any = next((call[key] for key in ("arguments", "args", "input") if call.get(key) is not None), {})
    if isinstance(arguments, str):
        try:
            arguments = loads(arguments) if arguments.strip() else {}
        except ValueError as error:
            raise TurnError("the arguments of a logged call are no JSON") from error
    if not isinstance(arguments, Mapping) or not isinstance(call.get("name"), str):
        raise TurnError("a logged call without a name, or whose arguments are no object")
    return {"name": call["name"], "arguments": dict(arguments)}


def tools_of(logged: object) -> list[dict[str, Any]]:
    """Return logged tool definitions (chat-completions, its older `functions`, Anthropic) in the form of a case.

    Raises:
        TurnError: no list, or a tool that is no function, such as a web search of the endpoint.
    """
    if logged and not isinstance(logged, list):
        raise TurnError("the tools of the request are no list")
    tools = []
    for tool in logged if isinstance(logged, list) else ():
        kind = tool.get("type", "function") if isinstance(tool, Mapping) else None
        function = tool.get("function", tool) if kind in {"function", "custom"} else None
        if not isinstance(function, Mapping) or not isinstance(function.get("name"), str):
            raise TurnError(f"a tool of type '{kind}', which is no function of the product")
        spec = {"name": function["name"], "description": function.get("description") or ""}
        parameters = function.get("parameters") or function.get("input_schema")
        if parameters is not None:
            spec["parameters"] = parameters
        tools.append(spec)
    return tools


def schema_of(response_format: object) -> dict[str, Any] | None:
    """Return the JSON Schema of a logged `response_format`, or None where it names none."""
    inner = response_format.get("json_schema") if isinstance(response_format, Mapping) else None
    schema = inner.get("schema") if isinstance(inner, Mapping) else None
    return dict(schema) if isinstance(schema, Mapping) else None


def stops_of(logged: object) -> list[str]:
    """Return the stop texts of a logged request, one or several.

    Raises:
        TurnError: they are no texts.

    >>> stops_of("END"), stops_of(["Q:", ""]), stops_of(None)
    (['END'], ['Q:'], [])
    """
    texts = [logged] if isinstance(logged, str) else logged or []
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise TurnError("the stop texts of the request are no texts")
    return list(filter(None, texts))


def with_schema_told(messages: list[dict[str, Any]], schema: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return messages whose system text tells the schema, which the endpoint enforced and no prompt had to tell."""
    text = f"Answer only with JSON that is valid under this JSON Schema:\n{dumps(schema, sort=False)}"
    if messages[0]["role"] != "system":
        return [{"role": "system", "content": text}, *messages]
    first = {**messages[0], "content": f"{messages[0]['content']}\n\n{text}".strip()}
    return [first, *messages[1:]]
