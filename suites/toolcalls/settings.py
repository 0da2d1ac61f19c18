"""Settings of requests that one turn serves: the tools on offer, the examples, and how cases ask."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from qeval.suites.draw import Draw

from .tools import Ask, Banks, declare, draw_request, fill_request, fill_rich_request, other_tools
from .turns import Call, Request, Turn, dumps, says, shown, user

N_TOOLS = {
    "fill": (1, 1), "none": (1, 1), "same": (1, 2), "choose": (2, 2), "parallel": (2, 2), "ordered": (3, 5),
    "many": (3, 4), "toolbox": (5, 9), "catalogue": (10, 30), "unserved": (2, 5),
    "result": (1, 3), "best": (1, 3), "follow": (2, 4),
}  # fmt: skip
"""Tools on offer, least and most; other kinds offer one to three."""
N_TOOLS_OTHERWISE = (1, 3)
UNLIKE_EXAMPLE = frozenset({"many", "toolbox", "catalogue"})
"""Kinds whose example uses another tool than the request."""
AND, THEN, BEFORE = "{} And: {}", "First: {} Then: {}", "{} But before that: {}"
"""How two requests are joined; after `BEFORE` the second is served first."""


class Asked(NamedTuple):
    """What a case asks in the end, and the right answer."""

    turns: list[Turn]
    calls: list[Call]
    cluster: str
    graders: Sequence[dict[str, Any]] = ()
    """Of an answer in words, beside the grader of calls."""
    ordered: bool = False


class Setting(NamedTuple):
    """What cases of one product share: the tools on offer and the examples shown."""

    kind: str
    tools: list[dict[str, Any]]
    turns: list[Turn]
    ask: Callable[[Draw, int], Asked]
    """Draws what is asked; the number is that of the case, plus the tries before."""


def flat(draw: Draw, banks: Banks, kind: str, ask: Ask) -> Setting:
    """One tool to choose and fill."""
    others = other_tools(draw, banks, ask.tool, N_TOOLS[kind])
    if kind == "choose":
        examples = draw.shuffled([ask.tool, *others])
    else:
        examples = [draw.pick(others) if kind in UNLIKE_EXAMPLE else ask.tool]
    turns = shown(draw_request(draw, banks, tool) for tool in examples)

    def asked(draw: Draw, number: int) -> Asked:
        request = fill_request(draw, banks, ask.tool, ask.wording)
        return Asked([user(request.text)], [request.call], ask.cluster)

    return Setting(kind, declare(draw, banks, [ask.tool, *others]), turns, asked)


def joined(draw: Draw, banks: Banks, kind: str, ask: Ask) -> Setting:
    """Two requests at once: of two tools, of the same tool twice, or with an order of their own."""
    others = other_tools(draw, banks, ask.tool, N_TOOLS[kind])
    second = ask.tool if kind == "same" else others[0]
    tools = (ask.tool, second)
    text, calls = _join(draw, kind, [draw_request(draw, banks, tool) for tool in tools])

    def asked(draw: Draw, number: int) -> Asked:
        first = fill_request(draw, banks, ask.tool, ask.wording)
        other = draw_request(draw, banks, second)
        while other.call == first.call:
            other = draw_request(draw, banks, second)
        text, calls = _join(draw, kind, [first, other])
        return Asked([user(text)], calls, ask.cluster, ordered=kind == "ordered")

    return Setting(kind, declare(draw, banks, [ask.tool, *others]), [user(text), says(dumps(calls))], asked)


def _join(draw: Draw, kind: str, requests: list[Request]) -> tuple[str, list[Call]]:
    """Return two requests as one text, and their calls in the order in which they must be made."""
    join = draw.pick([THEN, BEFORE]) if kind == "ordered" else AND
    calls = [request.call for request in requests]
    return join.format(*(request.text for request in requests)), calls[::-1] if join == BEFORE else calls


def words(draw: Draw, banks: Banks, kind: str, ask: Ask) -> Setting:
    """Small talk and common knowledge, which no tool serves."""
    others = other_tools(draw, banks, ask.tool, N_TOOLS[kind])
    turns = [*shown([draw_request(draw, banks, ask.tool)]), user("Thanks!"), says("You are welcome.")]

    def asked(draw: Draw, number: int) -> Asked:
        text, word = banks.no_tool[number % len(banks.no_tool)]
        cluster = f"none-{str(text).lower().replace(' ', '-')[:40]}"
        graders = [] if word is None else [{"kind": "contains", "value": word}]
        return Asked([user(str(text))], [], cluster, graders)

    return Setting(kind, declare(draw, banks, [ask.tool, *others]), turns, asked)


def unserved(draw: Draw, banks: Banks, kind: str, ask: Ask) -> Setting:
    """A request for a tool that is not on offer."""
    offered = [tool for domain in banks.bystanders if ask.tool not in domain for tool in domain]
    tools = draw.sample(offered, draw.whole(*N_TOOLS[kind]))
    turns = [*shown([draw_request(draw, banks, tools[0])]), user("Thanks!"), says("You are welcome.")]

    def asked(draw: Draw, number: int) -> Asked:
        request = fill_request(draw, banks, ask.tool, ask.wording)
        return Asked([user(request.text)], [], f"unserved-{ask.cluster}")

    return Setting(kind, declare(draw, banks, tools), turns, asked)


def rich(draw: Draw, banks: Banks, kind: str, ask: Ask) -> Setting:
    """One tool to choose and fill, with arguments that are more than single texts and numbers."""
    rest = [tool for tool in banks.arguments[kind] if tool is not ask.tool]
    others = draw.sample(rest, draw.whole(*N_TOOLS_OTHERWISE) - 1)
    wordings = ask.tool["asks"]
    # Where a tool can be asked for in several ways, the example shows another one: copying its form is not enough.
    example = draw.pick([wording for wording in wordings if wording != ask.wording] or wordings)

    def asked(draw: Draw, number: int) -> Asked:
        request = fill_rich_request(draw, banks, ask.tool, ask.wording)
        return Asked([user(request.text)], [request.call], ask.cluster)

    turns = shown([fill_rich_request(draw, banks, ask.tool, example)])
    return Setting(kind, declare(draw, banks, [ask.tool, *others]), turns, asked)
