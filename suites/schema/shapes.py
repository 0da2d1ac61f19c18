"""Tasks whose JSON Schema is told as it is: deep, recursive, with choices, bounds, patterns and formats."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from qeval.suites.draw import Draw
from qeval.suites.shape import schema_of
from qeval.suites.slots import Drawn, draw_slots, fill_json, fill_text, slots_of

from .tasks import Setting, Task

SYSTEM = "Write each text as JSON that follows this JSON Schema: {}"
UNLIKE_EXAMPLE = frozenset({"oneof", "recursive"})
"""Kinds whose example is another note of the scenario, so that the schema must be read to answer."""


def shaped(draw: Draw, bank: dict[str, Any], kind: str, scenario: dict[str, Any]) -> Setting:
    """Ask for a note of a scenario in its schema."""
    values, notes = bank["values"], scenario["notes"]
    schema = _schema(scenario)
    first = draw.pick(notes)
    shown = _draw(draw, first, values)
    example = _task(first, shown, schema)
    texts = {example.text}
    others = [note for note in notes if note is not first] if kind in UNLIKE_EXAMPLE else notes

    def asked(draw: Draw) -> Task:
        while True:
            note = draw.pick(others)
            drawn = _draw(draw, note, values)
            task = _task(note, drawn, schema)
            # No value is the example's, so that nothing is gained by repeating it.
            if task.text not in texts and all(shown[name] != drawn[name] for name in set(shown) & set(drawn)):
                texts.add(task.text)
                return task

    return Setting(kind, scenario["name"], SYSTEM.format(json.dumps(schema)), example, asked)


def _schema(scenario: dict[str, Any]) -> dict[str, Any]:
    defs = {name: schema_of(shape, closed=True) for name, shape in scenario.get("defs", {}).items()}
    return {**({"$defs": defs} if defs else {}), **schema_of(scenario["schema"], closed=True)}


def _draw(draw: Draw, note: list[Any], values: dict[str, Any]) -> dict[str, Drawn]:
    return draw_slots(draw, slots_of(note), values)


def _task(note: list[Any], drawn: Mapping[str, Drawn], schema: dict[str, Any]) -> Task:
    text, answer = note
    return Task(f"Text: {fill_text(text, drawn)}", schema, fill_json(answer, drawn))
