"""Cases of the suite `toolcalls`: choose a tool, fill its arguments, make two calls, or make none."""

from __future__ import annotations

import json
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

from qeval.suites.bank import read_bank
from qeval.suites.draw import Draw

N_CASES = {"smoke": 33, "standard": 320, "full": 1080}
# The order in which kinds come round: 17 cases, so that `smoke` holds nearly two rounds.
ROUND = (
    "fill", "choose", "none", "fill", "parallel", "fill", "choose", "none", "many",
    "fill", "choose", "fill", "parallel", "none", "fill", "many", "fill",
)  # fmt: skip
N_TOOLS = {"fill": (1, 1), "choose": (2, 2), "many": (3, 4), "parallel": (2, 2), "none": (1, 1)}
DIFFICULTY = {"fill": "easy", "choose": "medium", "many": "hard", "parallel": "hard", "none": "medium"}
MAX_NEW_TOKENS = {"fill": 36, "choose": 36, "many": 36, "parallel": 56, "none": 16}


class Ask(NamedTuple):
    """A way to ask for a tool: the unit that shares wording, so the cluster of its cases."""

    tool: dict[str, Any]
    text: str
    number: int


class Request(NamedTuple):
    """A request in words and the call that serves it."""

    text: str
    call: dict[str, Any]


def generate(size: str, seed: int) -> list[dict[str, Any]]:
    """Return the cases of a size; a larger size begins with the cases of the smaller ones."""
    bank = read_bank(Path(__file__).with_name("bank.yaml"))
    tools = [tool for domain in bank["domains"].values() for tool in domain]
    asks = Draw(seed, "asks").shuffled(
        Ask(tool, text, index) for tool in tools for index, text in enumerate(tool["asks"], start=1)
    )
    plain = Draw(seed, "plain").shuffled(bank["no_tool"])
    cases: list[dict[str, Any]] = []
    seen: set[str] = set()
    for number in range(N_CASES[size]):
        kind = ROUND[number % len(ROUND)]
        # Two cases in a row share a wording.
        ask, entry = asks[number // 2 % len(asks)], plain[number // 4 % len(plain)]
        attempts = (Draw(seed, number, attempt) for attempt in count())
        tries = (
            _no_call(number, draw, bank, draw.pick(asks), entry)
            if kind == "none"
            else _calls(number, draw, bank, kind, ask)
            for draw in attempts
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


def _calls(number: int, draw: Draw, bank: dict[str, Any], kind: str, ask: Ask) -> dict[str, Any]:
    """Return a case in which one tool, or two, must be called."""
    values = bank["values"]
    others = _others(draw, bank, ask.tool, N_TOOLS[kind])
    wanted = [_request(draw, values, ask)]
    if kind == "parallel":
        wanted.append(_example(draw, values, others[0]))
        example = [_example(draw, values, tool) for tool in (ask.tool, others[0])]
        turns = [_join(example), json.dumps([request.call for request in example])]
    else:
        turns = _examples(draw, values, kind, ask.tool, others)
    tools = [_declare(tool, values) for tool in draw.shuffled([ask.tool, *others])]
    calls = [request.call for request in wanted]
    case = _case(number, kind, [*turns, _join(wanted)], tools)
    case["tags"]["arguments"] = _argument_types(calls)
    cluster = f"{ask.tool['name']}-{ask.number}"
    return case | {"graders": [{"kind": "tool_call", "calls": calls}], "cluster": cluster}


def _examples(
    draw: Draw, values: dict[str, Any], kind: str, tool: dict[str, Any], others: list[dict[str, Any]]
) -> list[str]:
    """Return earlier turns: one of the tool itself, one of each tool, or (hard) one of another tool."""
    if kind == "fill":
        shown = [_example(draw, values, tool)]
    elif kind == "choose":
        shown = [_example(draw, values, each) for each in draw.shuffled([tool, *others])]
    else:
        shown = [_example(draw, values, draw.pick(others))]
    return [text for request in shown for text in (request.text, json.dumps(request.call))]


def _no_call(number: int, draw: Draw, bank: dict[str, Any], ask: Ask, entry: list[str | None]) -> dict[str, Any]:
    """Return a case in which the answer must be words, although tools are on offer."""
    text, word = entry
    tools = [ask.tool, *_others(draw, bank, ask.tool, N_TOOLS["none"])]
    shown = _request(draw, bank["values"], ask)
    turns = [shown.text, json.dumps(shown.call), "Thanks!", "You are welcome.", text]
    case = _case(number, "none", turns, [_declare(tool, bank["values"]) for tool in tools])
    case["tags"]["arguments"] = "none"
    graders: list[dict[str, Any]] = [{"kind": "tool_call", "calls": []}]
    if word is not None:
        graders.append({"kind": "contains", "value": word})
    return case | {"graders": graders, "cluster": f"none-{str(text).lower().replace(' ', '-')[:40]}"}


def _case(number: int, kind: str, turns: list[Any], tools: list[dict[str, Any]]) -> dict[str, Any]:
    roles = ("user", "assistant")
    talk = [{"role": roles[index % 2], "content": text} for index, text in enumerate(turns)]
    return {
        "id": f"toolcalls-{number:04d}",
        "messages": talk,
        "tools": tools,
        "tags": {
            "kind": kind,
            "lang": "en",
            "tools": "1" if len(tools) == 1 else "2-3" if len(tools) < 4 else "4+",
            "difficulty": DIFFICULTY[kind],
            "copy": "no",
        },
        "max_new_tokens": MAX_NEW_TOKENS[kind],
    }


def _request(draw: Draw, banks: dict[str, Any], ask: Ask) -> Request:
    """Fill the wording's slots and build the call that holds the same values."""
    arguments: dict[str, str | int] = {}
    for key, bank in ask.tool["arguments"].items():
        name = key.rstrip("?")
        if "{" + name + "}" in ask.text:
            arguments[name] = _value(draw, banks[bank])
    return Request(ask.text.format(**arguments), {"name": ask.tool["name"], "arguments": arguments})


def _example(draw: Draw, banks: dict[str, Any], tool: dict[str, Any]) -> Request:
    return _request(draw, banks, Ask(tool, draw.pick(tool["asks"]), 0))


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
    types = {type(value).__name__ for call in calls for value in call["arguments"].values()}
    return "mixed" if len(types) > 1 else {"int": "number", "str": "text"}[types.pop()]


def _join(requests: list[Request]) -> str:
    return " And: ".join(request.text for request in requests)
