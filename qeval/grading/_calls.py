"""Read the tool calls of an answer, whatever syntax the model chose; nothing is evaluated.

Known: the calls an engine returned apart, JSON objects and lists (`name` with `arguments` or `parameters`, the
chat-completions `tool_calls` form, `{"tool": {...}}`), the marks of model families (call_syntaxes.yaml), Markdown
fences, Python calls `f(a=1)`, and known tools by name. Prose around calls is not read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import regex

from qeval.chat import Tool
from qeval.grading._json import JsonError, Piece, find_json, read_lenient, read_strict
from qeval.grading._marked_calls import MOST_CALLS, Headed, Parameter, Segment, parts
from qeval.grading._named_calls import named_calls
from qeval.grading._python_calls import python_calls
from qeval.grading.base import Answer

_NAME_KEYS = ("name", "function", "tool", "tool_name", "function_name", "recipient_name", "action")
_ARGUMENT_KEYS = (
    "arguments",
    "parameters",
    "args",
    "params",
    "input",
    "kwargs",
    "tool_input",
    "action_input",
)
_LOOKS_LIKE_CALL = regex.compile(r"[\"'](?:name|function|tool_calls|tool)[\"']\s*:")
_HAS_ARGUMENTS = regex.compile(rf"[\"'](?:{'|'.join(_ARGUMENT_KEYS)}|tool_calls)[\"']\s*:")
_SURE_KEYS = frozenset({"arguments", "parameters", "tool_input", "action_input"})
"""What follows these is meant as arguments, whatever it is; the other keys are words of ordinary data as well."""
_NO_CALLS = frozenset({"[]", "{}"})
"""What says after a mark of calls that there are none."""
_WORD_BEFORE = regex.compile(r"[^\W_][\"',`(]?[ \t]*\Z|[,`][ \t]*\Z")


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


class _Place(NamedTuple):
    """Where JSON stands."""

    marked: bool
    """Whether a mark says that calls follow."""
    alone: bool
    """Whether it is no part of a sentence."""


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
    return _Reader(tools).read(answer.text)


class _Reader:
    """Collects the calls of one text, with notes and the first reason why something could not be read."""

    def __init__(self, tools: Sequence[Tool]) -> None:
        """Take the tools on offer."""
        self.tools: dict[str, Mapping[str, Any]] = {tool.name: tool.parameters.get("properties", {}) for tool in tools}
        """For each the schemas of its parameters, in order."""
        self.need_nothing = {
            tool.name for tool in tools if not self.tools[tool.name] or tool.parameters.get("required") == []
        }
        self.notes: dict[str, None] = {}
        self.malformed: str | None = None
        self.says_nothing = False

    def read(self, text: str) -> Calls:
        text = _uncoded(text)
        calls: list[Call] = []
        rest: list[str] = []
        wrapper: str | None = None
        for part in parts(text):
            if len(calls) > MOST_CALLS:
                break
            if isinstance(part, Headed):
                calls.extend(self._from_head(part))
                wrapper = None
            elif part.mark is None:
                calls.extend(self._from_json(part.text, marked=False))
                rest.append(part.text)
                if part.text.strip():
                    self._missing(wrapper)
                    wrapper = None
            elif part.text.strip():
                calls.extend(self._from_segment(part))
                wrapper = None
            else:
                wrapper = part.mark
        self._missing(wrapper)
        if not calls:
            calls = self._from_words("\n".join(rest))
        return Calls(tuple(calls), tuple(self.notes), self.malformed, self.says_nothing)

    def _missing(self, mark: str | None) -> None:
        """Note that a mark opened nothing."""
        if mark is not None:
            self._note(f"{mark.strip()} without a call that can be read")

    def _note(self, fault: str | None) -> None:
        self.malformed = self.malformed or fault

    def _from_segment(self, part: Segment) -> list[Call]:
        """Read what follows a mark: JSON, else Python, else the name of a tool that needs no arguments."""
        if part.text.strip() in self.need_nothing:
            return [Call(part.text.strip(), {})]
        calls = self._from_json(part.text, marked=True) or self._from_python(part.text)
        if not calls and not part.mentioned and part.text.strip() not in _NO_CALLS:
            self._missing(part.mark)
        return calls

    def _from_words(self, text: str) -> list[Call]:
        """Read calls without marks: in Python, or by the names of known tools."""
        calls = self._from_python(text)
        if not calls:
            read = named_calls(text, {name: frozenset(declared) for name, declared in self.tools.items()})
            self._note(read.malformed)
            for call in read.calls:
                calls.extend(self._from_head(call))
        return calls

    def _from_json(self, text: str, *, marked: bool) -> list[Call]:
        """Read the calls among the JSON of a text; `marked`: a mark says that calls follow."""
        found = find_json(text)
        if found.fenced:
            self.notes["unclosed_fence" if found.unclosed_fence else "fence"] = None
        calls: list[Call] = []
        for piece in found.pieces:
            alone = marked or piece.extraction != "embedded" or not _word_before(text, piece)
            try:
                calls.extend(self._from_value(self._value(piece, alone=alone), _Place(marked, alone)))
            except (_MalformedError, JsonError) as fault:
                self._note(str(fault))
        return calls

    def _value(self, piece: Piece, *, alone: bool) -> Any:  # noqa: ANN401 - any JSON value
        if piece.fault is None:
            return piece.value
        if piece.fault.fault == "not_strict":
            try:
                value = read_lenient(piece.text)
            except ValueError:
                value = None
            if value is not None:
                self.notes["not_strict"] = None
                return value
        if self._is_meant(piece.text[:2_000], alone=alone):
            raise _MalformedError(f"a call that cannot be read: {piece.fault}")
        return None

    def _is_meant(self, text: str, *, alone: bool) -> bool:
        """Return whether broken JSON is meant as a call; within a sentence it must have arguments or name a tool."""
        if not _LOOKS_LIKE_CALL.search(text):
            return False
        return alone or _HAS_ARGUMENTS.search(text) is not None or any(f'"{name}"' in text for name in self.tools)

    def _from_value(self, value: Any, place: _Place) -> Iterator[Call]:  # noqa: ANN401 - any JSON value
        if isinstance(value, list):
            for item in value[:MOST_CALLS]:
                yield from self._from_value(item, place)
        elif isinstance(value, Mapping):
            yield from self._from_object(value, place)

    def _from_object(self, value: Mapping[str, Any], place: _Place) -> Iterator[Call]:
        inner = self._envelope(value, place)
        if inner is not None:
            yield from inner
            return
        function = value.get("function")
        if isinstance(function, Mapping):
            yield from self._from_object(function, place)
            return
        name = next((self._plain(value[key]) for key in _NAME_KEYS if isinstance(value.get(key), str)), None)
        key = next((key for key in _ARGUMENT_KEYS if key in value), None)
        if name is not None and (key is not None or (name in self.tools and place.alone)):
            if self._is_call(value, name, key, place):
                yield Call(name, self._arguments(value, name, key))
        elif value and all(self._names_a_call(tool, item, place) for tool, item in value.items()):
            yield from (Call(tool, dict(arguments)) for tool, arguments in value.items())
        elif not _is_definition(value, "parameters"):
            for item in value.values():
                yield from self._within(item, place)

    def _within(self, value: object, place: _Place) -> Iterator[Call]:
        """Find calls of known tools in what lies deeper, such as `{"thought": ..., "act": {"name": ...}}`."""
        for item in value if isinstance(value, list) else [value]:
            if isinstance(item, Mapping) and self._known_name(item) and set(_ARGUMENT_KEYS) & set(item):
                yield from self._from_object(item, place)

    def _known_name(self, value: Mapping[str, Any]) -> bool:
        return any(isinstance(value.get(key), str) and self._plain(value[key]) in self.tools for key in _NAME_KEYS)

    def _plain(self, name: str) -> str:
        """Return a tool's name without what some models put around it."""
        bare = name.removeprefix("functions.").removeprefix("default_api.").removesuffix(".call")
        return bare if bare in self.tools else name

    def _is_call(self, value: Mapping[str, Any], name: str, key: str | None, place: _Place) -> bool:
        """Return whether an object with a name is a call, not a tool's definition or ordinary data."""
        if _is_definition(value, key):
            return False
        return place.marked or name in self.tools or key in _SURE_KEYS or isinstance(value.get(key or ""), Mapping)

    def _names_a_call(self, key: str, item: object, place: _Place) -> bool:
        """Return whether `{key: item}` is a call of `key`; after a mark of calls, whatever its name is."""
        return isinstance(item, Mapping) and (key in self.tools or place.marked)

    def _envelope(self, value: Mapping[str, Any], place: _Place) -> Iterator[Call] | None:
        """Return the calls within `tool_calls`, `message` or `choices`, or None where the value is no envelope."""
        if "tool_calls" in value:
            self.says_nothing = not value["tool_calls"] and not value.get("content")
            return self._from_value(value["tool_calls"], place)
        for key in ("message", "choices", "function_call", "functionCall"):
            if isinstance(value.get(key), Mapping | list):
                return self._from_value(value[key], place)
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

    def _from_head(self, call: Headed) -> Iterator[Call]:
        """Read a call whose name stands apart from its arguments; parameters are of their declared type."""
        self._note(call.fault)
        if call.fault is not None:
            return
        try:
            if call.parameters is not None:
                declared = self.tools.get(call.name, {})
                arguments = {key: self._typed(found, declared.get(key)) for key, found in call.parameters.items()}
            else:
                arguments = self._arguments({"arguments": call.arguments}, call.name, "arguments")
        except (_MalformedError, JsonError) as fault:
            self._note(str(fault))
        else:
            yield Call(self._plain(call.name), arguments)

    def _typed(self, found: Parameter, schema: Any) -> Any:  # noqa: ANN401 - any JSON value
        """Return a parameter between marks, where text has no quotes: as declared, else JSON where it is that."""
        text = found.value
        if found.is_text:
            return text
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

    def _from_python(self, text: str) -> list[Call]:
        read = python_calls(text, {name: list(declared) for name, declared in self.tools.items()})
        self._note(read.malformed)
        if read.not_strict:
            self.notes["not_strict"] = None
        return [Call(self._plain(name), arguments) for name, arguments in read.calls]


def _uncoded(text: str) -> str:
    """Return the content of a text that is one code span as a whole, else the text."""
    inner = text.strip()[1:-1]
    return inner if text.strip() == f"`{inner}`" and inner and "`" not in inner else text


def _word_before(text: str, piece: Piece) -> bool:
    """Return whether a piece of JSON goes on with a sentence."""
    at = text.find(piece.text)
    return _WORD_BEFORE.search(text, max(0, at - 40), max(0, at)) is not None


def _is_definition(value: Mapping[str, Any], key: str | None) -> bool:
    """Return whether an object repeats a tool's definition, whose `parameters` are a JSON Schema, not arguments."""
    inner = value.get("parameters") if key == "parameters" else None
    return (
        isinstance(inner, Mapping)
        and inner.get("type") in {"object", "dict"}
        and isinstance(inner.get("properties"), Mapping)
    )
