"""Take a text apart at the marks of calls; what a string holds is never a mark."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import regex

from qeval.grading._bare_values import read_bare
from qeval.grading._call_syntaxes import FENCE, Syntax, patterns, syntaxes
from qeval.grading._json import closing_bracket, value_end
from qeval.marks import in_sentence

MOST_CALLS = 1_000
"""Most calls that are read: an answer with more is a loop, and is wrong however it goes on."""
_MOST_JSON_TRIES = 50
_MAY_HOLD_CALLS = regex.compile(
    r"[<\[{✿>`]|\b(?:to=|call:|functools|function call)|\b(?:action|tool|function)[^\n:：]*[:：]", regex.IGNORECASE
)
"""Most texts hold nothing of this, and need not be looked through."""
_FENCE_LINE = regex.compile(r"```\w*[ \t]*\n\s*+")
_BLANKS = regex.compile(r"\s*+")
_JSON_STRING = regex.compile(r"\"(?:[^\"\\]|\\.)*+\"", regex.DOTALL)
_NOTHING = regex.compile(r"[ \t`]*+(?:none|null|n/a)?[ \t`]*+(?=\n|\Z)", regex.IGNORECASE)


class Parameter(NamedTuple):
    """A parameter between marks, where text has no quotes."""

    value: str
    is_text: bool
    """Whether the model said that it is text."""


class Headed(NamedTuple):
    """A call whose name stands apart from its arguments."""

    name: str
    arguments: str | Mapping[str, Any]
    """The text of one JSON object, or what was read."""
    parameters: Mapping[str, Parameter] | None = None
    """Where it has parameters instead."""
    fault: str | None = None
    """Why its arguments cannot be told, or None."""


class Segment(NamedTuple):
    """What stands between two marks."""

    text: str
    mark: str | None
    """The mark that opens it, after which calls are meant; None where there is none."""
    mentioned: bool = False
    """Whether the mark is a word of a sentence."""


def parts(text: str) -> Iterator[Headed | Segment]:
    """Yield the calls with heads and what stands between the marks, in order.

    >>> list(parts('Well. <tool_call>{"name": "f"}</tool_call>'))[1]
    Segment(text='{"name": "f"}', mark='<tool_call>', mentioned=False)
    """
    if not _MAY_HOLD_CALLS.search(text):
        yield Segment(text, None)
        return
    start = position = tries = heads = 0
    mark: str | None = None
    mentioned = False
    scan = patterns().scan
    while (found := scan.search(text, position)) and heads < MOST_CALLS:
        position = found.end()
        at = _syntax_of(found)
        if at is not None or found["open"] or found["close"]:
            yield Segment(text[start : found.start()], mark, mentioned)
            mark = None
        if at is not None:
            heads += 1
            call, position = _headed(text, found["name"], at, position)
            yield call
            start = position
        elif found["open"] and found["open"].startswith(FENCE):
            end = text.find(FENCE, _past_json(text, position))
            end = len(text) if end < 0 else end
            yield Segment(text[position:end], found["open"])
            start = position = min(end + len(FENCE), len(text))
        elif found["open"]:
            # A mark that ends in a bracket shares it with the list of calls.
            start = position = position - found["open"].endswith("[")
            mark, mentioned = found["open"], in_sentence(text, found.start(), found.end())
        elif found["close"]:
            start = position
        elif found["json"] and tries < _MOST_JSON_TRIES:
            tries += 1
            position = value_end(text, found.start()) or position
    yield Segment(text[start:], mark, mentioned)


def _syntax_of(found: regex.Match[str]) -> int | None:
    if found["name"] is None:
        return None
    return next(at for at, entry in enumerate(syntaxes()) if entry.head is not None and found[f"s{at}"] is not None)


def _headed(text: str, name: str, at: int, start: int) -> tuple[Headed, int]:
    """Read what follows a head; return the call and where it ends."""
    syntax = syntaxes()[at]
    start = _past(_BLANKS, text, start)
    if syntax.values == "bare":
        read = read_bare(text, start)
        fault = f"the arguments of {name} cannot be read"
        return (Headed(name, read[0]), read[1]) if read else (Headed(name, "", fault=fault), start)
    inner = _past(_FENCE_LINE, text, start)
    if text.startswith("{", inner):
        end = closing_bracket(text, inner)
        return Headed(name, text[inner:end]), end
    if string := _JSON_STRING.match(text, inner):
        return Headed(name, string[0]), string.end()
    pattern = patterns().parameters[at]
    if pattern is not None:
        return _with_parameters(text, name, syntax, pattern, start)
    if nothing := _NOTHING.match(text, start):
        return Headed(name, {}), nothing.end()
    return Headed(name, "", fault=f"the arguments of {name} are no object"), start


def _with_parameters(
    text: str, name: str, syntax: Syntax, pattern: regex.Pattern[str], start: int
) -> tuple[Headed, int]:
    parameters: dict[str, Parameter] = {}
    fault = None
    position = start
    while found := pattern.match(text, position):
        key = found["key"].strip()
        if key in parameters:
            fault = f"the call of {name} gives {key} twice"
        parameters[key] = Parameter(
            _unpadded(found["value"]), "text" in found.groupdict() and found["text"] is not None
        )
        position = found.end()
    until = regex.compile(syntax.until, regex.VERBOSE | regex.IGNORECASE).search(text, position)
    end = until.start() if until else len(text)
    if text[position:end].strip():
        fault = f"the parameters of {name} cannot be read"
    return Headed(name, "", parameters, fault), end


def _unpadded(value: str) -> str:
    """Return a value without what sets it off from its marks: a line break on each side, or XML's own marks of text."""
    if value.startswith("<![CDATA[") and value.endswith("]]>"):
        return value.removeprefix("<![CDATA[").removesuffix("]]>")
    return value.removeprefix("\n").removesuffix("\n")


def _past_json(text: str, start: int) -> int:
    """Return the end of the JSON with which a text goes on, or `start` where it goes on with something else."""
    inner = _past(_BLANKS, text, start)
    return closing_bracket(text, inner) if text.startswith(("{", "["), inner) else start


def _past(pattern: regex.Pattern[str], text: str, position: int) -> int:
    found = pattern.match(text, position)
    return found.end() if found else position
