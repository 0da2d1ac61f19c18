"""Settings of requests that take more turns: one that lacks an argument, and those that go on after a result."""

from __future__ import annotations

from typing import Any, NamedTuple

from qeval.suites.draw import Draw
from qeval.suites.slots import draw_slots, fill_json, fill_text, slots_of

from .settings import N_TOOLS, Asked, Setting
from .tools import Banks, call_and_result, declare, draw_needed, draw_request, fill_request, other_tools
from .turns import Call, Turn, called, returned, says, shown, user

QUESTION = r"[?？؟]"
OPENINGS = ("", "Hello! ", "I am in a hurry. ", "One more thing. ")
"""Before a request that lacks an argument, since some of them have nothing else that could vary."""


class Round(NamedTuple):
    """A request, the call that was made for it and its result; then the answer in words and its graders."""

    turns: list[Turn]
    answer: str
    graders: list[dict[str, Any]]


def asking(draw: Draw, banks: Banks, kind: str, entry: list[str]) -> Setting:
    """A required argument is missing: the answer must ask for it and call nothing."""
    tool = banks.tools[entry[0]]
    other_name, wording, question = draw.pick([other for other in banks.dialogues["ask"] if other[0] != entry[0]])
    other = banks.tools[other_name]
    turns = [
        *shown([draw_request(draw, banks, tool)]),
        user(fill_request(draw, banks, other, wording).text),
        says(question),
    ]
    cluster = f"ask-{tool['name']}-{banks.dialogues['ask'].index(entry)}"

    def asked(draw: Draw, number: int) -> Asked:
        text = draw.pick(OPENINGS) + fill_request(draw, banks, tool, entry[1]).text
        return Asked([user(text)], [], cluster, [{"kind": "regex", "pattern": QUESTION}])

    return Setting(kind, declare(draw, banks, [tool, other]), turns, asked)


def result(draw: Draw, banks: Banks, kind: str, entry: dict[str, Any]) -> Setting:
    """A tool has answered, and the answer in words must hold what it said."""
    tool = banks.tools[entry["tool"]]
    others = other_tools(draw, banks, tool, N_TOOLS[kind])

    def round_of(draw: Draw) -> Round:
        return _best_round(draw, banks, tool, entry) if kind == "best" else _result_round(draw, banks, tool, entry)

    example = round_of(draw)
    turns = [*example.turns, says(example.answer)]

    def asked(draw: Draw, number: int) -> Asked:
        found = round_of(draw)
        while found.graders[0] == example.graders[0]:
            found = round_of(draw)
        return Asked(found.turns, [], f"{kind}-{banks.dialogues[kind].index(entry)}", found.graders)

    return Setting(kind, declare(draw, banks, [tool, *others]), turns, asked)


def _result_round(draw: Draw, banks: Banks, tool: dict[str, Any], entry: dict[str, Any]) -> Round:
    drawn = draw_needed(draw, banks, tool, [entry["ask"], entry["result"]])
    turns = [user(fill_text(entry["ask"], drawn)), *call_and_result(tool, drawn, fill_json(entry["result"], drawn))]
    graders = [{"kind": "contains", "value": fill_text(entry["expect"], drawn)}]
    return Round(turns, fill_text(entry["answer"], drawn), graders)


def _best_round(draw: Draw, banks: Banks, tool: dict[str, Any], entry: dict[str, Any]) -> Round:
    """Return three rows, of which the one with the lowest or highest value is asked for."""
    drawn = draw_needed(draw, banks, tool, [entry["ask"]])
    cells = draw_slots(draw, [f"{bank}{row}" for row in range(3) for bank in entry["row"].values()], banks.values)
    rows = [{key: cells[f"{bank}{row}"].value for key, bank in entry["row"].items()} for row in range(3)]
    best, *worse = sorted(rows, key=lambda row: float(row[entry["by"]]), reverse=entry["want"] == "highest")
    give = entry["give"]
    graders = [
        {"kind": "contains", "value": best[give]},
        {"kind": "not_contains", "values": [row[give] for row in worse]},
    ]
    turns = [user(fill_text(entry["ask"], drawn)), *call_and_result(tool, drawn, rows)]
    return Round(turns, entry["answer"].format(best=best[give]), graders)


def follow(draw: Draw, banks: Banks, kind: str, entry: dict[str, Any]) -> Setting:
    """A tool has answered, and a second call must take its argument from there."""
    first = {"name": entry["first"], "description": entry["description"], "parameters": entry["parameters"]}
    then = banks.tools[entry["then"]]
    others = other_tools(draw, banks, then, (N_TOOLS[kind][0] - 1, N_TOOLS[kind][1] - 1))

    def round_of(draw: Draw) -> tuple[list[Turn], Call]:
        drawn = draw_slots(draw, slots_of([entry["ask"], entry["result"]]), banks.values)
        call = {"name": entry["first"], "arguments": fill_json(entry["call"], drawn)}
        turns = [user(fill_text(entry["ask"], drawn)), called(call), returned(call, fill_json(entry["result"], drawn))]
        return turns, {"name": entry["then"], "arguments": fill_json(entry["arguments"], drawn)}

    turns, call = round_of(draw)
    shown = [*turns, called(call), returned(call, {"done": True}), says("Done.")]

    def asked(draw: Draw, number: int) -> Asked:
        turns, wanted = round_of(draw)
        while wanted == call:
            turns, wanted = round_of(draw)
        return Asked(turns, [wanted], f"follow-{banks.dialogues['follow'].index(entry)}")

    return Setting(kind, declare(draw, banks, [first, then, *others]), shown, asked)
