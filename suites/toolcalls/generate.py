"""Cases of the suite `toolcalls`: choose a tool, fill its arguments, make several calls, none, or go on after one."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, count, cycle
from typing import Any

from qeval.suites.draw import Draw

from .dialogues import asking, follow, result
from .settings import Asked, Setting, flat, joined, rich, unserved, words
from .tools import Ask, Banks, read_banks
from .turns import Call, dumps, says

N_CASES = {"smoke": 32, "standard": 320, "full": 1080}
N_SHARING = 2
"""Cases in a row that share their tools and examples, as the requests of one product do."""
# The order in which kinds come round. `smoke` ends within the first round, which keeps to short prompts.
FIRST_ROUND = (
    "fill", "choose", "none", "fill", "ask", "fill", "choose", "none", "many",
    "fill", "result", "fill", "parallel", "none", "fill", "many",
)  # fmt: skip
ROUND = (
    "fill", "nested", "choose", "ask", "catalogue", "result", "array", "none", "toolbox", "optional", "ordered",
    "fill", "follow", "enum", "many", "null", "unserved", "choose", "numbers", "parallel", "best", "dotted",
    "fill", "script", "same", "catalogue",
)  # fmt: skip
DIFFICULTY = {
    "fill": "easy", "ask": "medium", "none": "medium", "result": "medium", "array": "medium",
    "optional": "medium", "enum": "medium", "numbers": "medium", "dotted": "medium",
}  # fmt: skip
"""The others are hard."""
WORDS_LIMIT = 16
"""Tokens of an answer in words."""
MAKERS: dict[str, Callable[[Draw, Banks, str, Any], Setting]] = {
    "fill": flat, "choose": flat, "many": flat, "toolbox": flat, "catalogue": flat,
    "parallel": joined, "same": joined, "ordered": joined,
    "none": words, "unserved": unserved, "ask": asking,
    "result": result, "best": result, "follow": follow,
}  # fmt: skip
"""Those of other kinds are made by `rich`."""


def generate(size: str, seed: int) -> list[dict[str, Any]]:
    """Return the cases of a size; a larger size begins with the cases of the smaller ones."""
    banks = read_banks(seed)
    cases: list[dict[str, Any]] = []
    seen: set[str] = set()
    for group, (kind, item) in zip(range(N_CASES[size] // N_SHARING), _plan(banks, seed), strict=False):
        make = MAKERS.get(kind, rich)
        setting = make(Draw(seed, group), banks, kind, item)
        for number in range(group * N_SHARING, (group + 1) * N_SHARING):
            asked = (setting.ask(Draw(seed, number, tried), number + tried) for tried in count())
            tries = (_case(number, setting, each) for each in asked)
            cases.append(next(case for case in tries if _is_new(case, seen)))
    return cases


def _plan(banks: Banks, seed: int) -> Iterator[tuple[str, Any]]:
    """Yield, without end, a kind and what its cases are made from: its own items in turn, else a way to ask."""
    asks = Draw(seed, "asks").shuffled(_asks(banks.tools.values()))
    items = {kind: cycle(found) for kind, found in _items(banks, seed).items()}
    for ask, kind in zip(cycle(asks), chain(FIRST_ROUND, cycle(ROUND)), strict=False):
        yield kind, next(items[kind]) if kind in items else ask


def _items(banks: Banks, seed: int) -> dict[str, list[Any]]:
    """Return, by kind, what its cases are made from in turn."""
    items: dict[str, list[Any]] = {kind: _asks(tools) for kind, tools in banks.arguments.items()}
    items |= {kind: banks.dialogues[kind] for kind in ("ask", "result", "best", "follow")}
    return {kind: Draw(seed, "asks", kind).shuffled(found) for kind, found in items.items()}


def _asks(tools: Iterable[dict[str, Any]]) -> list[Ask]:
    return [Ask(tool, wording, number) for tool in tools for number, wording in enumerate(tool["asks"], start=1)]


def _is_new(case: dict[str, Any], seen: set[str]) -> bool:
    """Whether no case asks the same, and no example of its own does or holds its answer; it then counts as seen."""
    turns, calls = case["messages"], case["graders"][0]["calls"]
    key = json.dumps([turns, case["tools"]])
    answer = dumps(calls[0] if len(calls) == 1 else calls)
    if turns[-1] in turns[:-1] or key in seen or says(answer) in turns:
        return False
    seen.add(key)
    return True


def _case(number: int, setting: Setting, asked: Asked) -> dict[str, Any]:
    calls, n_tools = asked.calls, len(setting.tools)
    return {
        "id": f"toolcalls-{number:04d}",
        "messages": [*setting.turns, *asked.turns],
        "tools": setting.tools,
        "graders": [
            {"kind": "tool_call", "calls": calls, **({"ordered": True} if asked.ordered else {})},
            *asked.graders,
        ],
        "tags": {
            "kind": setting.kind,
            "lang": "en",
            "tools": "1" if n_tools == 1 else "2-3" if n_tools < 4 else "4-9" if n_tools < 10 else "10-30",
            "arguments": _argument_types(calls),
            "difficulty": DIFFICULTY.get(setting.kind, "hard"),
            "copy": "no",
        },
        "cluster": asked.cluster,
        "max_new_tokens": _limit(calls),
    }


def _limit(calls: list[Call]) -> int:
    """Return the limit of tokens, for tokenizers that write each digit apart and other scripts byte by byte."""
    if not calls:
        return WORDS_LIMIT
    text = json.dumps(calls, ensure_ascii=False)
    n_digits = sum(letter.isdecimal() for letter in text)
    n_foreign = sum(len(letter.encode()) for letter in text if not letter.isascii())
    base = 16 if _argument_types(calls) in {"nested", "array"} else 8
    return base + 2 * len(text) // 5 + max(n_digits - 8, 0) + n_foreign


def _argument_types(calls: list[Call]) -> str:
    """Return the most that an argument of the calls is."""
    found = {type(value) for call in calls for value in call["arguments"].values()}
    for kind, name in ((type(None), "null"), (dict, "nested"), (list, "array")):
        if kind in found:
            return name
    if not found:
        return "none"
    names = {"text" if kind is str else "boolean" if kind is bool else "number" for kind in found}
    return "mixed" if len(names) > 1 else names.pop()
