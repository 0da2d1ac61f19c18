"""Read calls that only the name of a known tool gives away: `f {"a": 1}`, `f: {...}`, `<f><a>1</a></f>`."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple

import regex

from qeval.grading._json import JsonError, closing_bracket, read_lenient
from qeval.grading._marked_calls import MOST_CALLS, Headed, Parameter

_CHILD = regex.compile(r"\s*<(?P<key>[\w.:-]+)>(?P<value>(?:(?!<(?P=key)>).)*?)</(?P=key)>", regex.DOTALL)


class NamedCalls(NamedTuple):
    """Calls found, and why something meant as a call could not be read."""

    calls: tuple[Headed, ...] = ()
    malformed: str | None = None


def named_calls(text: str, tools: Mapping[str, Collection[str]]) -> NamedCalls:
    """Return the calls of known tools in a text.

    Args:
        text: the answer.
        tools: the name of each tool with those of its parameters.

    >>> named_calls('weather\\n{"city": "Rome"}', {"weather": ["city"]}).calls[0].arguments
    '{"city": "Rome"}'
    """
    if not tools:
        return NamedCalls()
    names = "|".join(regex.escape(name) for name in sorted(tools, key=len, reverse=True))
    calls = [*_before_json(text, names, tools), *_as_tags(text, names, tools)]
    acted = regex.search(
        rf"(?:^|\n)[ \t*_>#-]*(?:Action|Tool)[*_ ]*[:：][*_ ]*[`\"']?(?P<name>{names})[`\"'*_]*\s*(?:\n|\Z|[\[({{])", text
    )
    unread = f"the call of {acted['name']} cannot be read" if acted and not calls else None
    return NamedCalls(tuple(calls[:MOST_CALLS]), unread)


def _before_json(text: str, names: str, tools: Mapping[str, Collection[str]]) -> list[Headed]:
    """Return calls whose name, at the beginning of a line, is followed by an object of its parameters."""
    head = regex.compile(rf"^[ \t*_>#`-]*(?P<name>{names})[`*_]*\s*[:：(]?\s*(?:```\w*\n\s*)?(?=\{{)", regex.MULTILINE)
    calls = []
    for found in head.finditer(text):
        body = text[found.end() : closing_bracket(text, found.end())]
        if _keys(body) <= set(tools[found["name"]]):
            calls.append(Headed(found["name"], body))
    return calls


def _keys(body: str) -> set[str]:
    """Return the keys of an object; where it cannot be read, one that no tool has."""
    try:
        value = read_lenient(body)
    except (JsonError, ValueError):
        return {""}
    return set(value) if isinstance(value, Mapping) else {""}


def _as_tags(text: str, names: str, tools: Mapping[str, Collection[str]]) -> list[Headed]:
    """Return calls written as a tag of the tool's name around tags of its parameters."""
    calls = []
    for found in regex.finditer(rf"<(?P<name>{names})>(?P<body>.*?)</(?P=name)>", text, regex.DOTALL):
        parameters = {}
        position = 0
        while child := _CHILD.match(found["body"], position):
            parameters[child["key"]] = Parameter(child["value"], is_text=False)
            position = child.end()
        if parameters.keys() <= set(tools[found["name"]]) and not found["body"][position:].strip():
            calls.append(Headed(found["name"], "", parameters))
    return calls
