"""The ways in which a conversation can be handed to a chat template, in the order in which they are tried.

Templates differ in what they take: arguments as an object or as JSON text, the content of a calling turn empty or
absent, call ids of a certain form, content in parts. A way is one choice of all of these. The first is what the
chat-completions format says; the others follow by how far they are from it, and what a template cannot show at all is
written as plain text, in this order: results, calls, tools.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import product
from typing import Any, Literal, NamedTuple, get_args, get_type_hints


class Way(NamedTuple):
    """How a conversation is handed to a chat template."""

    arguments: Literal["object", "text"] = "object"
    """Arguments of a call as an object, or as JSON text."""
    call_content: Literal["empty", "none", "absent"] = "empty"
    """The content of a calling turn in which nothing is said."""
    call_ids: Literal["letters", "names", "none"] = "letters"
    """Ids of calls and results: nine letters and digits, `functions.NAME:NUMBER`, or none."""
    result_content: Literal["text", "object"] = "text"
    """A result as text, or as an object: its own where it is one, else `{"result": text}`."""
    result_name: Literal["given", "absent"] = "given"
    """Whether a result says which tool it is of."""
    content: Literal["text", "parts"] = "text"
    """The content of a turn as text, or as a list of one part that is text."""
    spoken: Literal["with the call", "before the call"] = "with the call"
    """What is said beside a call: in the calling turn, or in a turn of its own before it."""
    several: Literal["together", "one by one"] = "together"
    """Several calls of one turn: in that turn, or in turns of their own, each before its result."""
    system: Literal["template", "folded"] = "template"
    """System text in a turn of its own, or before the first user turn's text."""
    results: Literal["template", "text"] = "template"
    """Results as the template takes them, or as text in user turns."""
    calls: Literal["template", "text"] = "template"
    """Calls as the template takes them, or as text in assistant turns."""
    tools: Literal["template", "text"] = "template"
    """Tools as the template takes them, or described in the system text."""

    def __str__(self) -> str:
        """Say in words how the way differs from the chat-completions format.

        >>> str(Way(system="folded", tools="text"))
        'tools described in the system text; system text before the first user turn'
        """
        said = (_WORDS.get((field, value)) for field, value in zip(self._fields, self, strict=True))
        return "; ".join(filter(None, reversed(list(said)))) or STANDARD


STANDARD = "as in the chat-completions format"

_WORDS = {
    ("arguments", "text"): "arguments of calls as JSON text",
    ("call_content", "none"): "content of calling turns none",
    ("call_content", "absent"): "content of calling turns absent",
    ("call_ids", "names"): "call ids of the form functions.NAME:NUMBER",
    ("call_ids", "none"): "no call ids",
    ("result_content", "object"): "results as objects",
    ("result_name", "absent"): "results without the tool's name",
    ("content", "parts"): "content in parts",
    ("spoken", "before the call"): "what is said beside a call in a turn before it",
    ("several", "one by one"): "several calls of one turn one by one, each before its result",
    ("system", "folded"): "system text before the first user turn",
    ("results", "text"): "tool results as text in user turns",
    ("calls", "text"): "calls as text",
    ("tools", "text"): "tools described in the system text",
}

_COSTS = {"spoken": 10, "several": 15, "system": 20}
"""How far a choice is from the format where it is more than a matter of form, which costs 1."""


class Features(NamedTuple):
    """What a conversation holds, as far as it decides which ways differ for it."""

    system: bool
    tools: bool
    calls: bool
    spoken_calls: bool
    """Whether some calling turn says something too."""
    several_calls: bool
    """Whether some turn makes more than one call."""
    results: bool


_FORMS: dict[str, Callable[[Features], bool]] = {
    "content": lambda _: True,
    "system": lambda has: has.system,
    "spoken": lambda has: has.spoken_calls,
    "several": lambda has: has.several_calls,
    "arguments": lambda has: has.calls,
    "call_content": lambda has: has.calls,
    "call_ids": lambda has: has.calls or has.results,
    "result_content": lambda has: has.results,
    "result_name": lambda has: has.results,
}
"""Choices of form, and for what conversations they make a difference."""
_OF_CALLS = frozenset({"arguments", "call_content", "spoken", "several"})
_OF_RESULTS = frozenset({"result_content", "result_name"})


@cache
def groups(has: Features) -> tuple[tuple[Way, ...], ...]:
    """Return the ways for a conversation: first those that leave all to the template, then those that write text.

    Each group is in the order in which its ways are tried.
    """
    results = Way(results="text") if has.results else Way()
    calls = results._replace(calls="text") if has.calls else results
    # A template that takes tools may show results and yet no earlier calls.
    results_alone = [Way(calls="text")] if has.tools and has.results and has.calls else []
    described = [base._replace(tools="text") for base in (Way(), results, calls)] if has.tools else []
    bases = [Way(), results, *results_alone, calls, *described]
    return tuple(_variants(base, has) for base in dict.fromkeys(bases))


def _variants(base: Way, has: Features) -> tuple[Way, ...]:
    unused = set[str]()
    if base.results == "text":
        unused |= _OF_RESULTS
    if base.calls == "text":
        unused |= _OF_CALLS | {"call_ids"}
    if base.tools == "text":
        has = has._replace(system=True)
    free = [name for name, matters in _FORMS.items() if name not in unused and matters(has)]
    ways = [base._replace(**dict(zip(free, values, strict=True))) for values in product(*map(_values, free))]
    # sorted() is stable: equal costs stay in the order of the fields' values.
    return tuple(sorted(ways, key=lambda way: _cost(way, base)))


def _cost(way: Way, base: Way) -> int:
    return sum(_COSTS.get(name, 1) for name, one, other in zip(Way._fields, way, base, strict=True) if one != other)


@cache
def _values(name: str) -> tuple[Any, ...]:
    return get_args(get_type_hints(Way)[name])
