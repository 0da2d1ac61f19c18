"""Read the tool calls of an answer, whatever syntax the model chose; nothing is evaluated.

Known: the calls an engine returned apart, JSON objects and lists (`name` with `arguments` or `parameters`, the
chat-completions `tool_calls` form, `{"tool": {...}}`), `<tool_call>` and similar tags, the marks of model families
(`_tagged_calls`), Markdown fences, and Python calls `f(a=1)`. Prose around calls is not read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import regex

from qeval.chat import Tool
from qeval.grading._json import JsonError, Piece, find_json, read_lenient, read_strict
from qeval.grading._python_calls import python_calls
from qeval.grading._tagged_calls import MOST_CALLS, tagged_calls
from qeval.grading.base import Answer

_NAME_KEYS = ("name", "function", "tool", "tool_name", "function_name", "recipient_name")
_ARGUMENT_KEYS = ("arguments", "parameters", "args", "params", "input", "kwargs", "tool_input")
_TAG = regex.compile(
    r"</?(?:tool_calls?|function_calls?|tools?_use|functioncall)>|\[/?TOOL_CALLS\]|<\|python_tag\|>"
    r"|<\|/?tool_calls?(?:_section)?(?:_begin|_end)?\|>|<[|｜]tool▁calls?▁(?:begin|end)[|｜]>|<\|eom_id\|>"
    r"|functools(?=\[)",
    regex.IGNORECASE,
)
_OPENING_TAG = regex.compile(
    r"<(?:tool_calls?|function_calls?|functioncall)>|<invoke name=|\[TOOL_CALLS\]|<\|python_tag\|>"
    r"|<[|｜]tool▁calls?▁begin[|｜]>|<\|tool_calls?(?:_section)?_begin\|>",
    regex.IGNORECASE,
)
_LOOKS_LIKE_CALL = regex.compile(r"[\"'](?:name|function|tool_calls|tool)[\"']\s*:")


class Call(NamedTuple):
    """One call as the model wrote it."""

    name: str
    arguments: dict[str, Any]


class Calls(NamedTuple):
    """All calls of an answer, in order."""

    calls: tuple[Call, ...]
    notes: tuple[str, ...] = ()
    """What was forgiven: `not_strict`, `double_encoded`, `fence`, `unclosed_fence`."""
    malformed: str | None = None
    """Why something that was meant as a call cannot be read, or None."""
    says_nothing: bool = False
    """Whether the text is a message envelope without content and without calls."""


class _MalformedError(ValueError):
    """A value is meant as a call and is none."""


def read_calls(answer: Answer, tools: Sequence[Tool] = ()) -> Calls:
    """Return the calls of an answer.

    Args:
        answer: its `tool_calls` count where there are any, else its text is read.
        tools: the tools on offer: they settle what `{"f": {...}}`, positional arguments and a bare `f()` mean.

    >>> read_calls(Answer('Sure! {"name": "f", "parameters": {"a": 1}}')).calls
    (Call(name='f', arguments={'a': 1}),)
    """
    if answer.tool_calls:
        return Calls(tuple(Call(call.name, dict(call.arguments)) for call in answer.tool_calls))
    reader = _Reader({tool.name: tool.parameters.get("properties", {}) for tool in tools})
    return reader.read(answer.text)


class _Reader:
    """Collects the calls of one text, with notes and the first reason why something could not be read."""

    def __init__(self, tools: Mapping[str, Mapping[str, Any]]) -> None:
        """Take the tools on offer: for each the schemas of its parameters, in order."""
        self.tools = tools
        self.notes: dict[str, None] = {}
        self.malformed: str | None = None
        self.says_nothing = False

    def read(self, text: str) -> Calls:
        tagged = _OPENING_TAG.search(text) is not None
        calls = self._from_marks(text) or self._from_json(text, tagged=tagged)
        if not calls:
            calls = [Call(*call) for call in self._from_python(_TAG.sub("\n", text))]
        if not calls and tagged and self.malformed is None:
            self.malformed = "a tool-call tag without a readable call"
        return Calls(tuple(calls), tuple(self.notes), self.malformed, self.says_nothing)

    def _from_json(self, text: str, *, tagged: bool) -> list[Call]:
        found = find_json(_TAG.sub("\n", text) if tagged or _TAG.search(text) else text)
        if found.fenced:
            self.notes["unclosed_fence" if found.unclosed_fence else "fence"] = None
        calls: list[Call] = []
        for piece in found.pieces:
            try:
                calls.extend(self._from_value(self._value(piece)))
            except (_MalformedError, JsonError) as fault:
                self.malformed = self.malformed or str(fault)
        return calls

    def _value(self, piece: Piece) -> Any:  # noqa: ANN401 - any JSON value
        if piece.fault is None:
            return piece.value
        meant = _LOOKS_LIKE_CALL.search(piece.text[:2_000]) is not None
        if piece.fault.fault == "not_strict":
            try:
                value = read_lenient(piece.text)
            except ValueError:
                value = None
            if value is not None:
                self.notes["not_strict"] = None
                return value
        if meant:
            raise _MalformedError(f"a call that cannot be read: {piece.fault}")
        return None

    def _from_value(self, value: Any) -> Iterator[Call]:  # noqa: ANN401 - any JSON value
        if isinstance(value, list):
            for item in value[:MOST_CALLS]:
                yield from self._from_value(item)
        elif isinstance(value, Mapping):
            yield from self._from_object(value)

    def _from_object(self, value: Mapping[str, Any]) -> Iterator[Call]:
        inner = self._envelope(value)
        if inner is not None:
            yield from inner
            return
        function = value.get("function")
        if isinstance(function, Mapping):
            yield from self._from_object(function)
            return
        name = next((value[key] for key in _NAME_KEYS if isinstance(value.get(key), str)), None)
        key = next((key for key in _ARGUMENT_KEYS if key in value), None)
        if name is not None and (key is not None or name in self.tools):
            if not _is_definition(value, key):
                yield Call(name, self._arguments(value, name, key))
        elif value and all(key in self.tools and isinstance(item, Mapping) for key, item in value.items()):
            yield from (Call(tool, dict(arguments)) for tool, arguments in value.items())

    def _envelope(self, value: Mapping[str, Any]) -> Iterator[Call] | None:
        """Return the calls within `tool_calls`, `message` or `choices`, or None where the value is no envelope."""
        if "tool_calls" in value:
            self.says_nothing = not value["tool_calls"] and not value.get("content")
            return self._from_value(value["tool_calls"])
        for key in ("message", "choices", "function_call", "functionCall"):
            if isinstance(value.get(key), Mapping | list):
                return self._from_value(value[key])
        return None

    def _arguments(self, value: Mapping[str, Any], name: str, key: str | None) -> dict[str, Any]:
        if key is None:
            if set(value) - {*_NAME_KEYS, "type", "id"}:
                raise _MalformedError(f"the call of {name} has its arguments beside its name, not under 'arguments'")
            return {}
        arguments = value[key]
        for turn in range(2):
            if not isinstance(arguments, str):
                break
            if not arguments.strip():
                return {}
            arguments = self._decoded(arguments, name)
            if turn:
                self.notes["double_encoded"] = None
        if arguments is None:
            return {}
        if not isinstance(arguments, Mapping):
            raise _MalformedError(f"the arguments of {name} are no object")
        return dict(arguments)

    def _decoded(self, text: str, name: str) -> Any:  # noqa: ANN401 - any JSON value
        try:
            return read_strict(text)
        except JsonError as fault:
            if fault.fault != "not_strict":
                raise _MalformedError(f"the arguments of {name} cannot be read: {fault}") from fault
        try:
            value = read_lenient(text)
        except ValueError as error:
            raise _MalformedError(f"the arguments of {name} are no JSON") from error
        self.notes["not_strict"] = None
        return value

    def _from_marks(self, text: str) -> list[Call]:
        """Read calls whose name stands apart from their arguments; parameters in tags are of their declared type."""
        calls = []
        for call in tagged_calls(text):
            try:
                if call.parameters:
                    declared = self.tools.get(call.name, {})
                    arguments = {key: self._typed(text, declared.get(key)) for key, text in call.parameters.items()}
                else:
                    arguments = self._arguments({"arguments": call.body}, call.name, "arguments")
            except (_MalformedError, JsonError) as fault:
                self.malformed = self.malformed or str(fault)
                continue
            calls.append(Call(call.name, arguments))
        return calls

    def _typed(self, text: str, schema: Any) -> Any:  # noqa: ANN401 - any JSON value
        """Return a parameter between tags, where text has no quotes: as declared, else JSON where it is that."""
        types = schema.get("type", ()) if isinstance(schema, Mapping) else ()
        if "string" in (types if isinstance(types, list) else [types]):
            return None if text == "null" and "null" in types else text
        try:
            return read_strict(text)
        except JsonError:
            pass
        if not types:
            return text
        try:
            value = read_lenient(text)
        except ValueError:
            return text
        self.notes["not_strict"] = None
        return value

    def _from_python(self, text: str) -> list[tuple[str, dict[str, Any]]]:
        read = python_calls(text, {name: list(declared) for name, declared in self.tools.items()})
        self.malformed = self.malformed or read.malformed
        if read.not_strict:
            self.notes["not_strict"] = None
        return list(read.calls)


def _is_definition(value: Mapping[str, Any], key: str | None) -> bool:
    """Return whether an object repeats a tool's definition, whose `parameters` are a JSON Schema, not arguments."""
    inner = value.get("parameters") if key == "parameters" else None
    return (
        isinstance(inner, Mapping)
        and inner.get("type") in {"object", "dict"}
        and isinstance(inner.get("properties"), Mapping)
    )
