"""BFCL: the single-turn categories of the Berkeley Function Calling Leaderboard, whose answers can be compared.

Its type names become those of JSON Schema, its lists of accepted values `any_of`. Text within arguments is compared as
its own checker does (`bfcl_eval/eval_checker/ast_eval/ast_checker.py`): without regard to case, blanks and some marks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

from qeval.errors import UsageError
from qeval.grading._compare import is_choice
from qeval.suites.check import Answered, RawCase
from qeval.suites.importers._lines import Found, json_rows
from qeval.suites.importers._origin import files_of, licence_of
from qeval.suites.importers.base import Dropped, Reading, Wanted, made_or_dropped

SOURCE = "a file BFCL_v<n>_<category>.json with the folder possible_answer beside it, or a folder of them"
TAKES: frozenset[str] = frozenset()
_FILE = re.compile(r"BFCL_v\d+_(?P<category>\w+)\.json$")
_ANSWERS = "possible_answer"
_TYPES = {
    "object": ("dict", "hashmap", "map", "object"),
    "array": ("array", "arraylist", "list", "tuple", "set", "queue", "stack"),
    "number": ("float", "double", "number"),
    "integer": ("integer", "int", "long", "short", "byte", "bigint"),
    "string": ("string", "char"),
    "boolean": ("boolean",),
}
_SCHEMA_TYPE = {name: kind for kind, names in _TYPES.items() for name in names}
"""Type names of Python, Java and JavaScript in lower case; "any" and what is not here become no type."""
_KEPT = ("description", "enum", "default", "format", "minimum", "maximum", "required")
_LEFT_OUT = ""
"""In a list of accepted values: the argument may be left out."""
_MOST_OPTIONAL = 6
"""Most optional keys of an object inside an argument: each doubles the accepted values."""


def read(wanted: Wanted) -> Reading:
    """Read questions with their accepted calls; categories of irrelevance expect no call."""
    files = [file for file in files_of(wanted.source, "*.json", SOURCE) if file.parent.name != _ANSWERS]
    if not any(_FILE.search(file.name) for file in files):
        raise UsageError(f"{wanted.source}: no file of BFCL questions. Give {SOURCE}.")
    return Reading(
        _rows([file for file in files if _FILE.search(file.name)]),
        description="Calling the right tool with the right arguments, or none (BFCL, single turn).",
        max_new_tokens=256,
        licence=licence_of(wanted.source),
        notes=(
            'Text within arguments is compared by the public checker\'s rule (`"text": "loose"`).',
            "Names of tools keep their dots. Java and JavaScript categories are asked and graded as JSON.",
        ),
    )


def _rows(files: Sequence[Path]) -> Iterator[RawCase | Dropped]:
    for path in files:
        found = _FILE.search(path.name)
        category = found["category"] if found else path.stem
        answers = _answers(path.parent / _ANSWERS / path.name)
        for row in json_rows(path):
            yield row if isinstance(row, Dropped) else made_or_dropped(row.where, _case, row, category, answers)


def _answers(path: Path) -> dict[str, Any]:
    if not path.is_file():
        return {}
    rows = [row.value for row in json_rows(path) if isinstance(row, Found)]
    return {str(row.get("id")): row.get("ground_truth") for row in rows}


def _case(row: Found, category: str, answers: Mapping[str, Any]) -> RawCase | Dropped:
    turns, functions = row.value.get("question"), row.value.get("function")
    if not isinstance(turns, list) or not turns or not isinstance(functions, list):
        return Dropped(row.where, "no text under 'question' or no tools under 'function'")
    if len(turns) > 1:
        return Dropped(row.where, "several turns, which need the tools themselves to run", category)
    identity = str(row.value.get("id"))
    answer = [] if "irrelevance" in category else answers.get(identity)
    if not _is_calls(answer):
        return Dropped(row.where, f"no accepted calls in {_ANSWERS}/", f"category {category}")
    try:
        calls = expected_calls(answer or [])
    except ValueError as error:
        return Dropped(row.where, "accepted calls too many to write out", str(error))
    return RawCase(
        row.where,
        {
            "id": identity,
            "messages": turns[0],
            "tools": [tool_of(function) for function in functions],
            "graders": [{"kind": "tool_call", "calls": calls, "text": "loose"}],
            "tags": {"lang": "en", "category": category, "tools": _count(len(functions)), "calls": str(len(calls))},
        },
        Answered(tool_calls=tuple(_first_choices(call) for call in calls)) if calls else None,
    )


def _first_choices(call: Mapping[str, Any]) -> dict[str, Any]:
    """Return the call that takes the first accepted value of each argument."""
    return {"name": call["name"], "arguments": _first(call["arguments"])}


def _first(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    if is_choice(value):
        return _first(value["any_of"][0])
    if isinstance(value, Mapping):
        return {key: _first(inner) for key, inner in value.items()}
    return [_first(inner) for inner in value] if isinstance(value, list) else value


def _is_calls(answer: object) -> bool:
    return isinstance(answer, list) and all(isinstance(call, dict) and len(call) == 1 for call in answer)


def _count(tools: int) -> str:
    return "1" if tools == 1 else "2-3" if tools < 4 else "4+"


def tool_of(function: Mapping[str, Any]) -> dict[str, Any]:
    """Return a function of BFCL as a tool whose parameters are JSON Schema.

    >>> tool_of({"name": "f", "parameters": {"type": "dict", "properties": {"a": {"type": "float"}}}})["parameters"]
    {'type': 'object', 'properties': {'a': {'type': 'number'}}}
    """
    parameters = _schema(function.get("parameters") or {"type": "dict", "properties": {}})
    return {"name": function["name"], "description": function.get("description") or "", "parameters": parameters}


def _schema(parameter: Mapping[str, Any]) -> dict[str, Any]:
    schema: dict[str, Any] = {}
    kind = _SCHEMA_TYPE.get(str(parameter.get("type", "any")).lower())
    if kind is not None:
        schema["type"] = kind
    schema.update({key: parameter[key] for key in _KEPT if key in parameter})
    if isinstance(parameter.get("properties"), dict):
        schema["properties"] = {key: _schema(inner) for key, inner in parameter["properties"].items()}
    for key in ("items", "additionalProperties"):
        if isinstance(parameter.get(key), dict):
            schema[key] = _schema(parameter[key])
    return schema


def expected_calls(answer: Sequence[Mapping[str, Mapping[str, Any]]]) -> list[dict[str, Any]]:
    """Return accepted calls of BFCL as the grader `tool_call` takes them.

    Raises:
        ValueError: an object inside an argument has too many optional keys.

    >>> expected_calls([{"f": {"a": [1, 2], "b": ["x", ""]}}])
    [{'name': 'f', 'arguments': {'a': {'any_of': [1, 2]}, 'b': 'x'}, 'optional': ['b']}]
    """
    calls = []
    for call in answer:
        ((name, accepted),) = call.items()
        given = {key: [value for value in values if value != _LEFT_OUT] for key, values in accepted.items()}
        arguments = {key: _any_of(values) for key, values in given.items() if values}
        optional = [key for key, values in accepted.items() if _LEFT_OUT in values and key in arguments]
        calls.append({"name": name, "arguments": arguments, "optional": optional})
    return calls


def _any_of(values: Sequence[Any]) -> Any:  # noqa: ANN401 - any JSON value
    choices = [_accepted(value) for value in values]
    return choices[0] if len(choices) == 1 else {"any_of": choices}


def _accepted(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    """Return an accepted value; inside an object, each key has a list of accepted values of its own."""
    if isinstance(value, list):
        return [_accepted(item) for item in value]
    if not isinstance(value, dict):
        return value
    listed = {key: items if isinstance(items, list) else [items] for key, items in value.items()}
    given = {key: [item for item in items if item != _LEFT_OUT] for key, items in listed.items()}
    optional = [key for key, items in listed.items() if _LEFT_OUT in items]
    if len(optional) > _MOST_OPTIONAL:
        raise ValueError(f"an object with {len(optional)} optional keys, more than {_MOST_OPTIONAL}")
    whole = {key: _any_of(items) for key, items in given.items() if items}
    left_out = [set(keys) for count in range(len(optional) + 1) for keys in combinations(optional, count)]
    variants = [{key: item for key, item in whole.items() if key not in keys} for keys in left_out]
    return _any_of_variants(variants)


def _any_of_variants(variants: Sequence[dict[str, Any]]) -> dict[str, Any]:
    unique = [variant for position, variant in enumerate(variants) if variant not in variants[:position]]
    return unique[0] if len(unique) == 1 else {"any_of": unique}
