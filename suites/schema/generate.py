"""Cases of the suite `schema`: a short text, a shape, and the JSON of that shape that holds the text's facts."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, NamedTuple

from qeval.suites.bank import read_bank
from qeval.suites.draw import Draw

N_CASES = {"smoke": 32, "standard": 320, "full": 1080}
N_SHARING = 2
"""Cases in a row that share their shape and example, as the requests of one product do."""
# The order in which kinds come round: 17 pairs of cases, nearly one round at `smoke`.
ROUND = (
    "one", "two", "list", "two", "date", "one", "three", "missing", "flag",
    "one", "nested", "two", "three", "one", "date", "list", "flag",
)  # fmt: skip
DIFFICULTY = {
    "one": "easy", "two": "easy", "three": "medium", "list": "medium",
    "date": "hard", "flag": "hard", "nested": "hard", "missing": "hard",
}  # fmt: skip
N_FIELDS = {"one": 1, "two": 2, "three": 3, "list": 1, "date": 1, "flag": 1, "nested": 3, "missing": 2}
"""Plain fields asked for; `list`, `date` and `flag` ask for one field of that sort besides."""
SORTS = {"list": "array", "date": "date", "flag": "boolean"}
TOLD = {"string": "text", "integer": "whole number", "number": "number", "boolean": "true or false"}
MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
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


class Task(NamedTuple):
    """What is asked of a note: the text, the schema and the right answer."""

    text: str
    schema: dict[str, Any]
    answer: dict[str, Any]


class Setting(NamedTuple):
    """What cases of one product share: the sort of note, the fields asked for, and an example."""

    name: str
    """Of the scenario."""
    kind: str
    fields: list[Field]
    """Of the example's note."""
    kept: set[int]
    """Which sentences of a note stand in the text."""
    example: Task


def generate(size: str, seed: int) -> list[dict[str, Any]]:
    """Return the cases of a size; a larger size begins with the cases of the smaller ones."""
    bank = read_bank(Path(__file__).with_name("bank.yaml"))
    names = Draw(seed, "scenarios").shuffled(bank["scenarios"])
    cases = []
    for number in range(N_CASES[size]):
        group = number // N_SHARING
        kind = ROUND[(group + group // len(ROUND)) % len(ROUND)]
        setting = _setting(Draw(seed, "setting", group), bank, names[group % len(names)], kind)
        cases.append(_case(number, Draw(seed, number), bank, setting))
    return cases


def _setting(draw: Draw, bank: dict[str, Any], name: str, kind: str) -> Setting:
    note = _write_note(draw, bank["scenarios"][name], bank["values"])
    fields = _choose(draw, kind, note)
    kept = _kept(draw, kind, note, fields)
    # In the cases another field is the missing one, so that copying the example's null is wrong.
    return Setting(name, kind, fields, kept, _task(kind, note, fields, kept, gone=0))


def _case(number: int, draw: Draw, bank: dict[str, Any], setting: Setting) -> dict[str, Any]:
    kind, example = setting.kind, setting.example
    task = _task(kind, *_another(draw, bank, setting), setting.kept, gone=-1)
    return {
        "id": f"schema-{number:04d}",
        "messages": [
            {"role": "user", "content": example.text},
            {"role": "assistant", "content": json.dumps(example.answer)},
            {"role": "user", "content": task.text},
        ],
        "response_schema": task.schema,
        "graders": [{"kind": "json_schema", "schema": task.schema, "expect": task.answer}],
        "tags": {
            "kind": kind,
            "lang": "en",
            "fields": str(len(setting.fields)),
            "depth": "2" if kind in {"nested", "list"} else "1",
            "difficulty": DIFFICULTY[kind],
            "copy": "yes" if kind == "one" else "no",
        },
        "cluster": f"{setting.name}-{kind}",
        "max_new_tokens": 10 + len(json.dumps(task.answer)) // 2,
    }


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
            schema, value, shown = _value(draw, values, name, said)
            text = text.replace(f"{{{key}:{name}}}", shown)
            fields.append(Field(key, schema, value, index))
        sentences.append(text)
    return Note(sentences, fields)


def _value(draw: Draw, values: dict[str, Any], name: str, said: set[str]) -> tuple[dict[str, Any], Any, str]:
    """Return a field's JSON Schema, its value, and the value as the text shows it; no word is said twice."""
    bank = values[name]
    if "range" in bank:
        number = draw.whole(*bank["range"])
        return {"type": "integer"}, number, str(number)
    if "tenths" in bank:
        tenths = draw.whole(*bank["tenths"]) / 10
        return {"type": "number"}, tenths, str(tenths)
    if "date" in bank:
        year, month, day = draw.whole(2015, 2024), draw.whole(1, 12), draw.whole(1, 28)
        shown = f"{day} {MONTHS[month - 1]} {year}"
        return {"type": "string", "format": "date"}, f"{year}-{month:02d}-{day:02d}", shown
    if "list" in bank:
        items = draw.sample((word for word in values[bank["list"]]["values"] if word not in said), draw.whole(2, 3))
        shown = ", ".join(items[:-1]) + " and " + items[-1]
        return {"type": "array", "items": {"type": "string"}}, items, shown
    word = draw.pick([word for word in bank.get("values") or bank["enum"] if word not in said])
    said.add(word)
    return {"type": "string", **({"enum": bank["enum"]} if "enum" in bank else {})}, word, word


def _choose(draw: Draw, kind: str, note: Note) -> list[Field]:
    """Return the fields to ask for, in the order of the text."""
    chosen = draw.sample([field for field in note.fields if field.sort == "plain"], N_FIELDS[kind])
    if kind in SORTS:
        chosen.append(draw.pick([field for field in note.fields if field.sort == SORTS[kind]]))
    return [field for field in note.fields if field in chosen]


def _kept(draw: Draw, kind: str, note: Note, chosen: list[Field]) -> set[int]:
    """Return which sentences stand in the text: the opening one, those asked about, and some that distract."""
    needed = {0} | {field.sentence for field in chosen}
    rest = [index for index in range(len(note.sentences)) if index not in needed]
    return needed | set(draw.sample(rest, 2 if DIFFICULTY[kind] == "hard" else 1))


def _another(draw: Draw, bank: dict[str, Any], setting: Setting) -> tuple[Note, list[Field]]:
    """Return another note with the same fields and, yes/no fields apart, other values than the example's."""
    asked = {field.key for field in setting.fields}
    while True:
        note = _write_note(draw, bank["scenarios"][setting.name], bank["values"])
        fields = [field for field in note.fields if field.key in asked]
        if all(a.value != b.value or a.sort == "boolean" for a, b in zip(fields, setting.fields, strict=True)):
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
        properties["details"] = _object({key: properties.pop(key) for key in inner})
        answer["details"] = {key: answer.pop(key) for key in inner}
    schema = _object(properties)
    text = f"Text: {' '.join(filter(None, sentences))}\nWrite as JSON: {_told(schema)}"
    return Task(text, schema, answer)


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


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
