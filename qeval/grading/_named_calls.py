"""Read calls that only the name of a known tool gives away, such as `f {"a": 1}` or `<f><a>1</a></f>`."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any, NamedTuple

import regex

from qeval.grading._json import JsonError, closing_bracket, read_lenient
from qeval.grading._marked_calls import MOST_CALLS, Headed, Parameter

_CHILD = regex.compile(r"\s*<(?P<key>[\w.:-]+)>(?P<value>(?:(?!<(?P=key)>).)*?)</(?P=key)>", regex.DOTALL)
_ATTRIBUTE = regex.compile(r"\s+(?P<key>[\w.:-]+)=\"(?P<value>[^\"]*)\"")
_ARGUMENTS = r"\b(?:arguments|parameters|input|args)[\"']?\s*[:=]"
_LINE_START = r"^[ \t*_>#`-]*"
_NAME_AND_OBJECT = regex.compile(r"\s*+(?P<name>[A-Za-z]\w*[a-z0-9][_.A-Z]\w+)[ \t]*[:：]?\s*(?=\{)")
_LONGEST = 20_000
_MOST_NESTED = 1_000


class NamedCalls(NamedTuple):
    """Calls found, and why something meant as a call could not be read."""

    calls: tuple[Headed, ...] = ()
    malformed: str | None = None


def named_calls(text: str, tools: Mapping[str, Collection[str]]) -> NamedCalls:
    r"""Return the calls of known tools in a text.

    Args:
        text: the answer.
        tools: the name of each tool with those of its parameters.

    >>> named_calls('weather\n{"city": "Rome"}', {"weather": ["city"]}).calls[0].arguments
    '{"city": "Rome"}'
    """
    text = text[:_LONGEST]
    if not any(name in text for name in tools):
        return NamedCalls(malformed=_of_an_unknown_tool(text))
    names = _any(tools)
    found = (*_before_json(text, names, tools), *_as_tags(text, names, tools))
    why = None if found else _unread(text, names, tools) or _of_an_unknown_tool(text)
    return NamedCalls(found[:MOST_CALLS], why)


def _before_json(text: str, names: str, tools: Mapping[str, Collection[str]]) -> Iterator[Headed]:
    """Yield calls whose name, at the beginning of a line, is followed by an object of its parameters."""
    head = rf"{_LINE_START}(?:<\|?)?(?P<name>{names})(?:\|?>)?[`*_]*\s*[:：(]?\s*(?:```\w*\n\s*)?(?=\{{)"
    for found in regex.finditer(head, text, regex.MULTILINE):
        body = text[found.end() : closing_bracket(text, found.end())]
        value = _read(body)
        if isinstance(value, Mapping) and set(value) <= set(tools[found["name"]]):
            yield Headed(found["name"], body)


def _as_tags(text: str, names: str, tools: Mapping[str, Collection[str]]) -> Iterator[Headed]:
    """Yield calls written as a tag of the tool's name, with its parameters as tags within or as attributes."""
    for found in regex.finditer(rf"<(?P<name>{names})>(?P<body>.*?)</(?P=name)>", text, regex.DOTALL):
        yield from _tagged(found["name"], found["body"], _CHILD, tools)
    for found in regex.finditer(rf"<(?P<name>{names})(?P<body>(?:{_ATTRIBUTE.pattern})+)\s*/?>", text):
        yield from _tagged(found["name"], found["body"], _ATTRIBUTE, tools)


def _tagged(
    name: str, body: str, pattern: regex.Pattern[str], tools: Mapping[str, Collection[str]]
) -> Iterator[Headed]:
    parameters = {}
    position = 0
    while found := pattern.match(body, position):
        parameters[found["key"]] = Parameter(found["value"], is_text=False)
        position = found.end()
    if parameters.keys() <= set(tools[name]) and not body[position:].strip():
        yield Headed(name, "", parameters)


def _unread(text: str, names: str, tools: Mapping[str, Collection[str]]) -> str | None:
    """Return why a text that names a tool as calls do is a malformed call, or None where it is prose."""
    beside = [
        rf"{regex.escape(name)}(?:\s*[\[({{<:]?\s*-{{0,2}}[\"']?(?:{_any(keys)})[\"']?\s*[=:]|\s+--(?:{_any(keys)})\b)"
        for name, keys in tools.items()
        if keys
    ]
    # All of the answer, with a word or two around the name: `CALL f WITH a=1`
    alone = [
        rf"\A\W*(?:\w+[ \t:]+){{0,2}}{regex.escape(name)}\b(?:[ \t]+\w+)?[ \t]+[\"'-]*(?:{_any(keys)})[\"']?=[^\n]*\Z"
        for name, keys in tools.items()
        if keys
    ]
    # `name: f, arguments: ...`, and `<call tool="f" a="1"/>` or `tool: f` with its parameters beside it
    some = _any({key for keys in tools.values() for key in keys}) or r"(?!)"
    beside_name = rf"(?:{_ARGUMENTS}|\b(?:{some})[\"']?\s*[:=])"
    as_value = rf"(?:<\w+\s+)?(?:name|function|tool)[\"']?\s*[:=]\s*[\"'`]?(?:{names})\b.{{0,40}}?{beside_name}"
    as_table = rf"\[(?:tools?\.)?(?:{names})\]\s*\n\s*(?:{some})\s*="
    action = rf"Action[ ]?\d*[*_ ]*[:：][*_ ]*[`\"']?(?:{names})[`\"'*_]*\s*(?:$|[\[({{])"
    tag = rf"\A\s*<(?:{names})>.*</(?:{names})>\s*\Z"
    shapes = "|".join([*beside, as_value, as_table, action])
    pattern = "|".join([rf"{_LINE_START}(?:{shapes})", *alone, tag])
    found = regex.search(pattern, text, regex.MULTILINE | regex.DOTALL)
    if found:
        return f"a call that cannot be read: {found[0].strip()[:60]}"
    return "JSON that names a tool and its parameters in no form of a call" if _names_both(_read(text), tools) else None


def _of_an_unknown_tool(text: str) -> str | None:
    """Return why a text is a malformed call that is nothing but a name such as `get_time` and an object."""
    found = _NAME_AND_OBJECT.match(text)
    if found and isinstance(_read(text[found.end() :]), Mapping):
        return f"a name and an object in no form of a call: {found['name']}"
    return None


def _names_both(value: Any, tools: Mapping[str, Collection[str]]) -> bool:  # noqa: ANN401 - any JSON value
    """Return whether JSON holds a tool's name as a text and some of its parameters as keys."""
    texts: set[str] = set()
    keys: set[str] = set()
    queue = [value]
    for _ in range(_MOST_NESTED):
        if not queue:
            break
        item = queue.pop()
        if isinstance(item, str):
            texts.add(item)
        elif isinstance(item, Mapping) and "properties" not in item:
            keys.update(item)
            queue.extend(item.values())
        elif isinstance(item, list):
            queue.extend(item)
    return any(name in texts and keys.intersection(parameters) for name, parameters in tools.items())


def _read(text: str) -> Any:  # noqa: ANN401 - any JSON value
    """Read a text as one JSON value, leniently; None where it is none."""
    try:
        return read_lenient(text.strip())
    except (JsonError, ValueError):
        return None


def _any(texts: Collection[str]) -> str:
    return "|".join(regex.escape(text) for text in sorted(texts, key=len, reverse=True))
