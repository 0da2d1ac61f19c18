"""Cases of the suite `toolcalls`: choose a tool, fill its arguments, make two calls, or make none."""

from __future__ import annotations

import json
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

from qeval.suites.bank import read_bank
from qeval.suites.draw import Draw

N_CASES = {"smoke": 32, "standard": 320, "full": 1080}
N_SHARING = 2
"""Cases in a row that share their tools and examples, as the requests of one product do."""
# The order in which kinds come round: 17 pairs of cases, nearly one round at `smoke`.
ROUND = (
    "fill", "choose", "none", "fill", "parallel", "fill", "choose", "none", "many",
    "fill", "choose", "fill", "parallel", "none", "fill", "many", "fill",
)  # fmt: skip
N_TOOLS = {"fill": (1, 1), "choose": (2, 2), "many": (3, 4), "parallel": (2, 2), "none": (1, 1)}
DIFFICULTY = {"fill": "easy", "choose": "medium", "many": "hard", "parallel": "hard", "none": "medium"}
WORDS_LIMIT = 16
"""Tokens of an answer in words."""


class Ask(NamedTuple):
    """A way to ask for a tool: the unit that shares wording, so the cluster of its cases."""

    tool: dict[str, Any]
    wording: str
    number: int


class Setting(NamedTuple):
    """What cases of one product share: the tools on offer and the examples shown."""

    kind: str
    ask: Ask
    others: list[dict[str, Any]]
    turns: list[str]
    declared: list[dict[str, Any]]


class Request(NamedTuple):
    """A request in words and the call that serves it."""

    text: str
    call: dict[str, Any]


def generate(size: str, seed: int) -> list[dict[str, Any]]:
    """Return the cases of a size; a larger size begins with the cases of the smaller ones."""
    bank = read_bank(Path(__file__).with_name("bank.yaml"))
    tools = [tool for domain in bank["domains"].values() for tool in domain]
    asks = Draw(seed, "asks").shuffled(
        Ask(tool, wording, index) for tool in tools for index, wording in enumerate(tool["asks"], start=1)
    )
    plain = Draw(seed, "plain").shuffled(bank["no_tool"])
    cases: list[dict[str, Any]] = []
    seen: set[str] = set()
    for number in range(N_CASES[size]):
        group = number // N_SHARING
        setting = _setting(Draw(seed, group), bank, ROUND[group % len(ROUND)], asks[group % len(asks)])
        tries = (
            _case(number, Draw(seed, number, attempt), bank, setting, plain[(number + attempt) % len(plain)])
            for attempt in count()
        )
        cases.append(next(case for case in tries if _is_new(case, seen)))
    return cases


def _is_new(case: dict[str, Any], seen: set[str]) -> bool:
    """Whether no case asks the same, and none of its own examples does; it then counts as seen."""
    turns = [turn["content"] for turn in case["messages"]]
    key = json.dumps([turns, case["tools"]])
    if turns[-1] in turns[:-1] or key in seen:
        return False
    seen.add(key)
    return True


def _setting(draw: Draw, bank: dict[str, Any], kind: str, ask: Ask) -> Setting:
    """Draw further tools, and examples that use them."""
    values, tool = bank["values"], ask.tool
    others = _others(draw, bank, tool, N_TOOLS[kind])
    shown = _examples(draw, values, kind, tool, others)
    if kind == "parallel":
        turns = [_join(shown), json.dumps([request.call for request in shown])]
    else:
        turns = [text for request in shown for text in (request.text, json.dumps(request.call))]
    if kind == "none":
        turns += ["Thanks!", "You are welcome."]
    return Setting(kind, ask, others, turns, [_declare(each, values) for each in draw.shuffled([tool, *others])])


def _examples(
    draw: Draw, values: dict[str, Any], kind: str, tool: dict[str, Any], others: list[dict[str, Any]]
) -> list[Request]:
    """Return earlier requests: one of the tool itself, one of each tool, or (hard) one of another tool."""
    if kind == "parallel":
        return [_draw_request(draw, values, each) for each in (tool, others[0])]
    if kind == "choose":
        return [_draw_request(draw, values, each) for each in draw.shuffled([tool, *others])]
    return [_draw_request(draw, values, draw.pick(others) if kind == "many" else tool)]


def _case(number: int, draw: Draw, bank: dict[str, Any], setting: Setting, entry: list[str | None]) -> dict[str, Any]:
    """Return a case: one tool must be called, or two, or (kind `none`) the answer must be words."""
    values, kind = bank["values"], setting.kind
    graders: list[dict[str, Any]]
    if kind == "none":
        calls, (asked, word) = [], entry
        graders = [{"kind": "contains", "value": word}] if word is not None else []
        cluster = f"none-{str(asked).lower().replace(' ', '-')[:40]}"
    else:
        wanted = [_request(draw, values, setting.ask.tool, setting.ask.wording)]
        if kind == "parallel":
            wanted.append(_draw_request(draw, values, setting.others[0]))
        asked, calls, graders = _join(wanted), [request.call for request in wanted], []
        cluster = f"{setting.ask.tool['name']}-{setting.ask.number}"
    roles, n_tools = ("user", "assistant"), len(setting.declared)
    return {
        "id": f"toolcalls-{number:04d}",
        "messages": [{"role": roles[index % 2], "content": text} for index, text in enumerate([*setting.turns, asked])],
        "tools": setting.declared,
        "graders": [{"kind": "tool_call", "calls": calls}, *graders],
        "tags": {
            "kind": kind,
            "lang": "en",
            "tools": "1" if n_tools == 1 else "2-3" if n_tools < 4 else "4+",
            "arguments": _argument_types(calls),
            "difficulty": DIFFICULTY[kind],
            "copy": "no",
        },
        "cluster": cluster,
        "max_new_tokens": 8 + 2 * len(json.dumps(calls)) // 5 if calls else WORDS_LIMIT,
    }


def _request(draw: Draw, banks: dict[str, Any], tool: dict[str, Any], wording: str) -> Request:
    """Fill the wording's slots and build the call that holds the same values."""
    arguments: dict[str, str | int] = {}
    for key, bank in tool["arguments"].items():
        name = key.rstrip("?")
        if "{" + name + "}" in wording:
            arguments[name] = _value(draw, banks[bank])
    return Request(wording.format(**arguments), {"name": tool["name"], "arguments": arguments})


def _draw_request(draw: Draw, banks: dict[str, Any], tool: dict[str, Any]) -> Request:
    return _request(draw, banks, tool, draw.pick(tool["asks"]))


def _value(draw: Draw, bank: dict[str, Any]) -> str | int:
    if "range" in bank:
        return draw.whole(*bank["range"])
    value: str = draw.pick(bank.get("values") or bank["enum"])
    return value


def _others(draw: Draw, bank: dict[str, Any], tool: dict[str, Any], n_tools: tuple[int, int]) -> list[dict[str, Any]]:
    """Return further tools to offer: the tool's own domain first, since those are the hard ones to tell apart."""
    near: list[dict[str, Any]] = []
    far: list[dict[str, Any]] = []
    for domain in bank["domains"].values():
        (near if tool in domain else far).extend(other for other in domain if other is not tool)
    return [*draw.shuffled(near), *draw.shuffled(far)][: draw.whole(*n_tools) - 1]


def _declare(tool: dict[str, Any], banks: dict[str, Any]) -> dict[str, Any]:
    """Return a tool as the model is told of it."""
    properties = {}
    for key, bank in tool["arguments"].items():
        enum = {"enum": banks[bank]["enum"]} if "enum" in banks[bank] else {}
        properties[key.rstrip("?")] = {"type": banks[bank]["type"], **enum}
    required = [key for key in tool["arguments"] if not key.endswith("?")]
    parameters = {"type": "object", "properties": properties, "required": required}
    return {"name": tool["name"], "description": tool["description"], "parameters": parameters}


def _argument_types(calls: list[dict[str, Any]]) -> str:
    if not calls:
        return "none"
    types = {type(value).__name__ for call in calls for value in call["arguments"].values()}
    return "mixed" if len(types) > 1 else {"int": "number", "str": "text"}[types.pop()]


def _join(requests: list[Request]) -> str:
    return " And: ".join(request.text for request in requests)
