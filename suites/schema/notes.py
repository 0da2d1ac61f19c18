"""Tasks of flat facts: some sentences, of which the answer gives a few fields, told in short."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from qeval.suites.draw import Draw
from qeval.suites.shape import schema_of
from qeval.suites.slots import Drawn, draw_value

from .tasks import Setting, Task

N_FIELDS = {"one": 1, "two": 2, "three": 3, "list": 1, "date": 1, "flag": 1, "nested": 3, "missing": 2}
"""Plain fields asked for; `list`, `date` and `flag` ask for one field of that sort besides."""
SORTS = {"list": "array", "date": "date", "flag": "boolean"}
MANY_SENTENCES = frozenset({"date", "flag", "nested", "missing"})
"""Kinds whose texts hold two sentences that distract instead of one."""
TOLD = {"string": "text", "integer": "whole number", "number": "number", "boolean": "true or false"}
SLOT = re.compile(r"\{(\w+):(\w+)\}")


class Field(NamedTuple):
    """A fact: its key, JSON Schema, value, and the sentence that says it."""

    key: str
    schema: dict[str, Any]
    value: Any
    sentence: int

    @property
    def sort(self) -> str:
        """`plain`, `array`, `date` or `boolean`."""
        if self.schema.get("format") == "date":
            return "date"
        kind = str(self.schema["type"])
        return kind if kind in {"array", "boolean"} else "plain"


class Note(NamedTuple):
    """A text and the facts it holds."""

    sentences: list[str]
    fields: list[Field]


def flat(draw: Draw, bank: dict[str, Any], kind: str, name: str) -> Setting:
    """Ask for a few fields of a scenario's note."""
    note = _write_note(draw, bank["scenarios"][name], bank["values"])
    fields = _choose(draw, kind, note)
    kept = _kept(draw, kind, note, fields)

    def asked(draw: Draw) -> Task:
        return _task(kind, *_another(draw, bank, name, fields), kept, gone=-1)

    # In the cases another field is the missing one, so that copying the example's null is wrong.
    return Setting(kind, name, None, _task(kind, note, fields, kept, gone=0), asked)


def _write_note(draw: Draw, scenario: list[Any], values: dict[str, Any]) -> Note:
    sentences: list[str] = []
    fields: list[Field] = []
    said: set[str] = set()
    for index, entry in enumerate(scenario):
        if isinstance(entry, dict):
            ((key, wordings),) = entry.items()
            value = draw.pick([True, False])
            sentences.append(wordings[value])
            fields.append(Field(key, {"type": "boolean"}, value, index))
            continue
        text = entry
        for key, name in SLOT.findall(entry):
            schema, drawn = _value(draw, values, name, said)
            text = text.replace(f"{{{key}:{name}}}", drawn.shown)
            fields.append(Field(key, schema, drawn.value, index))
        sentences.append(text)
    return Note(sentences, fields)


def _value(draw: Draw, values: dict[str, Any], name: str, said: set[str]) -> tuple[dict[str, Any], Drawn]:
    """Return a field's JSON Schema and its value; no word is said twice."""
    bank = values[name]
    if "list" in bank:
        items = draw.sample((word for word in values[bank["list"]]["values"] if word not in said), draw.whole(2, 3))
        return {"type": "array", "items": {"type": "string"}}, Drawn(items, ", ".join(items[:-1]) + " and " + items[-1])
    drawn = draw_value(draw, bank, without=said)
    if "range" in bank:
        return {"type": "integer"}, drawn
    if "tenths" in bank:
        return {"type": "number"}, drawn
    if "date" in bank:
        return {"type": "string", "format": "date"}, drawn
    said.add(drawn.value)
    return {"type": "string", **({"enum": bank["enum"]} if "enum" in bank else {})}, drawn


def _choose(draw: Draw, kind: str, note: Note) -> list[Field]:
    """Return the fields to ask for, in the order of the text."""
    plain = [field for field in note.fields if field.sort == "plain"]
    chosen = draw.sample(plain, N_FIELDS[kind])
    while kind == "missing" and len({field.sentence for field in chosen}) == 1:
        # Both would be missing, in the example as in the case.
        chosen = draw.sample(plain, N_FIELDS[kind])
    if kind in SORTS:
        chosen.append(draw.pick([field for field in note.fields if field.sort == SORTS[kind]]))
    return [field for field in note.fields if field in chosen]


def _kept(draw: Draw, kind: str, note: Note, chosen: list[Field]) -> set[int]:
    """Return which sentences stand in the text: the opening one, those asked about, and some that distract."""
    needed = {0} | {field.sentence for field in chosen}
    rest = [index for index in range(len(note.sentences)) if index not in needed]
    return needed | set(draw.sample(rest, 2 if kind in MANY_SENTENCES else 1))


def _another(draw: Draw, bank: dict[str, Any], name: str, shown: list[Field]) -> tuple[Note, list[Field]]:
    """Return another note with the same fields and, yes/no fields apart, other values than the example's."""
    asked = {field.key for field in shown}
    while True:
        note = _write_note(draw, bank["scenarios"][name], bank["values"])
        fields = [field for field in note.fields if field.key in asked]
        if all(a.value != b.value or a.sort == "boolean" for a, b in zip(fields, shown, strict=True)):
            return note, fields


def _task(kind: str, note: Note, fields: list[Field], kept: set[int], gone: int) -> Task:
    """Ask for the fields of a note; `gone` is the field that kind `missing` takes out of the text."""
    properties = {field.key: field.schema for field in fields}
    answer = {field.key: field.value for field in fields}
    sentences = [text if index in kept else "" for index, text in enumerate(note.sentences)]
    if kind == "missing":
        sentences[fields[gone].sentence] = ""
        for field in fields:
            properties[field.key] = {"type": [field.schema["type"], "null"]}
            if field.sentence == fields[gone].sentence:
                answer[field.key] = None
    if kind == "nested":
        inner = [field.key for field in fields[1:]]
        properties["details"] = _closed({key: properties.pop(key) for key in inner})
        answer["details"] = {key: answer.pop(key) for key in inner}
    schema = _closed(properties)
    text = f"Text: {' '.join(filter(None, sentences))}\nWrite as JSON: {_told(schema)}"
    return Task(text, schema, answer)


def _closed(properties: dict[str, Any]) -> dict[str, Any]:
    return schema_of({key: {"schema": schema} for key, schema in properties.items()}, closed=True)


def _told(schema: dict[str, Any]) -> str:
    """Return a schema as the prompt tells it: short, and readable for people."""
    if schema["type"] == "object":
        return "{" + ", ".join(f'"{key}": {_told(inner)}' for key, inner in schema["properties"].items()) + "}"
    if schema["type"] == "array":
        return f"[{_told(schema['items'])}, ...]"
    if "enum" in schema:
        return " or ".join(schema["enum"])
    if schema.get("format") == "date":
        return "YYYY-MM-DD"
    if isinstance(schema["type"], list):
        return f"{TOLD[schema['type'][0]]} or null"
    return TOLD[schema["type"]]
