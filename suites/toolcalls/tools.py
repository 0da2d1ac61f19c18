"""The suite's word banks, its tools, and requests for them."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from qeval.suites.bank import read_bank
from qeval.suites.draw import Draw
from qeval.suites.shape import schema_of
from qeval.suites.slots import Drawn, draw_slots, fill_json, fill_text, slots_of

from .turns import Call, Request, Turn, called, returned


class Banks(NamedTuple):
    """The word banks of the suite."""

    values: dict[str, Any]
    domains: list[list[dict[str, Any]]]
    """Tools whose arguments are single texts and numbers, those of one domain together."""
    tools: dict[str, dict[str, Any]]
    """The same tools by name."""
    bystanders: list[list[dict[str, Any]]]
    """Domains whose tools serve nothing but their own requests."""
    no_tool: list[list[str | None]]
    """What no tool can do, with a word that a right answer holds, or None."""
    arguments: dict[str, list[dict[str, Any]]]
    """Kind -> tools whose arguments are more than single texts and numbers."""
    dialogues: dict[str, Any]
    """Requests that take more than one turn, by kind."""


class Ask(NamedTuple):
    """A way to ask for a tool: the unit that shares wording, so the cluster of its cases."""

    tool: dict[str, Any]
    wording: Any
    number: int

    @property
    def cluster(self) -> str:
        return f"{self.tool['name']}-{self.number}"


def read_banks(seed: int) -> Banks:
    """Read the suite's word banks."""
    folder = Path(__file__).parent
    bank, arguments, dialogues = (read_bank(folder / f"{name}.yaml") for name in ("bank", "arguments", "dialogues"))
    domains = list(bank["domains"].values())
    return Banks(
        values={**bank["values"], **arguments["values"], **dialogues["values"]},
        domains=domains,
        tools={tool["name"]: tool for domain in domains for tool in domain},
        bystanders=[bank["domains"][name] for name in dialogues["bystanders"]],
        no_tool=Draw(seed, "plain").shuffled(bank["no_tool"]),
        arguments=arguments["kinds"],
        dialogues=dialogues,
    )


def fill_request(draw: Draw, banks: Banks, tool: dict[str, Any], wording: str) -> Request:
    """Fill the wording's slots and build the call that holds the same values."""
    drawn = draw_needed(draw, banks, tool, [wording])
    return Request(fill_text(wording, drawn), call_of(tool, drawn))


def draw_request(draw: Draw, banks: Banks, tool: dict[str, Any]) -> Request:
    """Return a request for a tool, in any of its wordings."""
    return fill_request(draw, banks, tool, draw.pick(tool["asks"]))


def fill_rich_request(draw: Draw, banks: Banks, tool: dict[str, Any], wording: list[Any]) -> Request:
    """Fill the slots of a wording and of the arguments that stand beside it."""
    text, arguments = wording
    drawn = draw_slots(draw, slots_of(text), banks.values)
    return Request(fill_text(text, drawn), {"name": tool["name"], "arguments": fill_json(arguments, drawn)})


def draw_needed(draw: Draw, banks: Banks, tool: dict[str, Any], templates: list[Any]) -> dict[str, Drawn]:
    """Draw what the templates need: the tool's arguments by their own names, in the tool's order, then the rest."""
    own = {key.rstrip("?"): banks.values[bank] for key, bank in tool["arguments"].items()}
    needed = list(slots_of(templates))
    names = [*(key for key in own if key in needed), *needed]
    return draw_slots(draw, names, {**banks.values, **own})


def call_of(tool: dict[str, Any], drawn: dict[str, Drawn]) -> Call:
    """Return the call of a tool with the arguments that were drawn."""
    keys = [key.rstrip("?") for key in tool["arguments"]]
    return {"name": tool["name"], "arguments": {key: drawn[key].value for key in keys if key in drawn}}


def call_and_result(tool: dict[str, Any], drawn: dict[str, Drawn], result: Any) -> list[Turn]:  # noqa: ANN401 - JSON
    """Return the turns in which a tool is called and answers."""
    call = call_of(tool, drawn)
    return [called(call), returned(call, result)]


def other_tools(draw: Draw, banks: Banks, tool: dict[str, Any], n_tools: tuple[int, int]) -> list[dict[str, Any]]:
    """Return further tools to offer: the tool's own domain first, since those are the hard ones to tell apart."""
    near: list[dict[str, Any]] = []
    far: list[dict[str, Any]] = []
    for domain in banks.domains:
        (near if tool in domain else far).extend(other for other in domain if other is not tool)
    return [*draw.shuffled(near), *draw.shuffled(far)][: draw.whole(*n_tools) - 1]


def declare(draw: Draw, banks: Banks, tools: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return tools as the model is told of them, in a drawn order."""
    return [_declare_one(tool, banks.values) for tool in draw.shuffled(tools)]


def _declare_one(tool: dict[str, Any], values: dict[str, Any]) -> dict[str, Any]:
    if "parameters" in tool:
        parameters = schema_of(tool["parameters"], closed=False)
    else:
        parameters = schema_of({key: _shape(values[bank]) for key, bank in tool["arguments"].items()}, closed=False)
    return {"name": tool["name"], "description": tool["description"], "parameters": parameters}


def _shape(bank: dict[str, Any]) -> dict[str, Any]:
    enum = {"enum": bank["enum"]} if "enum" in bank else {}
    return {"schema": {"type": bank["type"], **enum}}
