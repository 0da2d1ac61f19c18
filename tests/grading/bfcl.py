"""Gold answers of the public BFCL files in every call syntax, and broken ones, for tests."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from qeval.suites.importers.bfcl import expected_calls, tool_of

Gold = list[tuple[str, dict[str, Any]]]


class Row(NamedTuple):
    """One row: its tools, the expected calls as the grader takes them, and one gold answer."""

    id: str
    tools: list[dict[str, Any]]
    calls: list[dict[str, Any]]
    gold: Gold


def read_rows(folder: Path, category: str) -> list[Row]:
    """Return the rows of a category that have an answer."""
    questions = [json.loads(line) for line in (folder / f"BFCL_v4_{category}.json").open(encoding="utf-8")]
    lines = (folder / "possible_answer" / f"BFCL_v4_{category}.json").open(encoding="utf-8")
    answers = {row["id"]: row["ground_truth"] for row in map(json.loads, lines)}
    return [_row(question, answers[question["id"]]) for question in questions]


def _row(question: dict[str, Any], answer: list[dict[str, Any]]) -> Row:
    tools = [tool_of(tool) for tool in question["function"]]
    gold = []
    for call in answer:
        ((name, accepted),) = call.items()
        given = {key: [value for value in values if value != ""] for key, values in accepted.items()}
        optional = [key for key, values in accepted.items() if "" in values]
        gold.append((name, {key: _first(values[0]) for key, values in given.items() if values and key not in optional}))
    return Row(question["id"], tools, expected_calls(answer), gold)


def _first(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _first(items[0]) for key, items in value.items()}
    return [_first(item) for item in value] if isinstance(value, list) else value


def syntaxes(gold: Gold) -> dict[str, str]:
    """Return a gold answer in every call syntax."""
    plain = [{"name": name, "arguments": arguments} for name, arguments in gold]
    lines = [json.dumps(call, ensure_ascii=False) for call in plain]
    python = [f"{name}({', '.join(f'{k}={v!r}' for k, v in arguments.items())})" for name, arguments in gold]
    functions = [{"function": {"name": name, "arguments": json.dumps(arguments)}} for name, arguments in gold]
    return {
        "objects": "\n".join(lines),
        "list": json.dumps(plain),
        "parameters": json.dumps([{"name": name, "parameters": arguments} for name, arguments in gold]),
        "name as key": json.dumps([{name: arguments} for name, arguments in gold]),
        "tags": "\n".join(f"<tool_call>\n{line}\n</tool_call>" for line in lines),
        "fence": f"Here:\n```json\n{json.dumps(plain, indent=2)}\n```",
        "prose": "I will call " + " and then ".join(lines) + " for you.",
        "python": f"[{', '.join(python)}]",
        "tool_calls": json.dumps({"tool_calls": functions}),
    }


def mutations(row: Row) -> Iterator[tuple[str, Gold, set[str]]]:
    """Yield broken golds of a row: what was done, the calls, and the classes that name it rightly."""
    name, arguments = row.gold[0]
    rest = row.gold[1:]
    schema = next(tool["parameters"] for tool in row.tools if tool["name"] == name)
    yield "doubled", [*row.gold, row.gold[0]], {"extra_call"}
    yield "no call", rest, {"missing_call"}
    yield "renamed", [(f"{name}_x", arguments), *rest], {"wrong_name"}
    yield "unknown argument", [(name, {**arguments, "zz_unknown": 1}), *rest], {"unknown_argument"}
    for key in arguments:
        left = {other: value for other, value in arguments.items() if other != key}
        yield f"without {key}", [(name, left), *rest], {"missing_argument"}
        kind = schema["properties"].get(key, {}).get("type")
        for label, value in _others(arguments[key], kind):
            broken = {**copy.deepcopy(arguments), key: value}
            fault = "wrong_value" if kind is None or label == "wrong value" else "wrong_type"
            yield f"{label} of {key}", [(name, broken), *rest], {fault}


def _others(value: Any, kind: str | None) -> Iterator[tuple[str, Any]]:
    if isinstance(value, bool):
        yield "wrong value", not value
        yield "wrong type", "yes"
    elif isinstance(value, int | float):
        yield "wrong value", value + 987_654
        yield "wrong type", f"{value}"
        if kind == "integer":
            yield "wrong type", value + 0.5
    elif isinstance(value, str):
        yield "wrong value", f"{value} zz"
        yield "wrong type", 987_654
    elif isinstance(value, list):
        yield "wrong value", [*value, *value, *value]
        yield "wrong type", "zz"
    else:
        yield "wrong value", {}
        yield "wrong type", "zz"
