"""Cases of the suite `schema`: a short text, a shape, and the JSON of that shape that holds the text's facts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import chain, cycle
from pathlib import Path
from typing import Any

from qeval.suites.bank import read_bank
from qeval.suites.draw import Draw

from .notes import flat
from .shapes import shaped
from .tasks import Setting, Task

N_CASES = {"smoke": 32, "standard": 320, "full": 1080}
N_SHARING = 2
"""Cases in a row that share their shape and example, as the requests of one product do."""
# The order in which kinds come round. `smoke` ends within the first round, which keeps to short prompts.
FIRST_ROUND = (
    "one", "two", "list", "two", "date", "one", "three", "missing", "flag",
    "one", "nested", "const", "three", "one", "pattern", "list",
)  # fmt: skip
ROUND = (
    "one", "objects", "two", "deep", "enum", "date", "three", "oneof", "list", "const", "missing",
    "recursive", "one", "pattern", "flag", "bounds", "two", "formats", "nested", "map", "objects", "formats",
)  # fmt: skip
DIFFICULTY = {
    "one": "easy", "two": "easy", "three": "medium", "list": "medium",
    "objects": "medium", "map": "medium", "enum": "medium", "const": "medium",
}  # fmt: skip
"""The others are hard."""


def generate(size: str, seed: int) -> list[dict[str, Any]]:
    """Return the cases of a size; a larger size begins with the cases of the smaller ones."""
    bank, shapes = (read_bank(Path(__file__).with_name(name)) for name in ("bank.yaml", "shapes.yaml"))
    bank["values"] |= shapes["values"]
    plan = _plan(bank, shapes["kinds"], seed)
    cases = []
    for group, (kind, item) in zip(range(N_CASES[size] // N_SHARING), plan, strict=False):
        make = shaped if kind in shapes["kinds"] else flat
        setting = make(Draw(seed, "setting", group), bank, kind, item)
        for number in range(group * N_SHARING, (group + 1) * N_SHARING):
            cases.append(_case(number, setting, setting.ask(Draw(seed, number))))
    return cases


def _plan(bank: dict[str, Any], shapes: dict[str, Any], seed: int) -> Iterator[tuple[str, Any]]:
    """Yield, without end, a kind and its scenario: one of its own in turn, else the next that all kinds share."""
    names = Draw(seed, "scenarios").shuffled(bank["scenarios"])
    own = {kind: cycle(Draw(seed, "scenarios", kind).shuffled(scenarios)) for kind, scenarios in shapes.items()}
    for name, kind in zip(cycle(names), chain(FIRST_ROUND, cycle(ROUND)), strict=False):
        yield kind, next(own[kind]) if kind in own else name


def _case(number: int, setting: Setting, task: Task) -> dict[str, Any]:
    kind, example, depth = setting.kind, setting.example, _depth(task.answer)
    n_fields = sum(1 for _, value in _leaves(task.answer, "") if not _holds_objects(value))
    return {
        "id": f"schema-{number:04d}",
        "messages": [
            *([] if setting.system is None else [{"role": "system", "content": setting.system}]),
            {"role": "user", "content": example.text},
            {"role": "assistant", "content": json.dumps(example.answer)},
            {"role": "user", "content": task.text},
        ],
        "response_schema": task.schema,
        "graders": [{"kind": "json_schema", "schema": task.schema, "expect": _expected(task.answer)}],
        "tags": {
            "kind": kind,
            "lang": "en",
            "fields": str(n_fields) if n_fields < 4 else "4-6" if n_fields < 7 else "7+",
            "depth": str(depth) if depth < 4 else "4+",
            "difficulty": DIFFICULTY.get(kind, "hard"),
            "copy": "yes" if kind == "one" else "no",
        },
        "cluster": f"{setting.scenario}-{kind}",
        "max_new_tokens": _limit(json.dumps(task.answer)),
    }


def _limit(answer: str) -> int:
    """Return the limit of tokens, for tokenizers that write each digit apart."""
    return 10 + len(answer) // 2 + max(sum(letter.isdecimal() for letter in answer) - 11, 0)


def _expected(answer: dict[str, Any]) -> dict[str, Any]:
    """Return what the grader compares field by field: plain keys at the top, JSON Pointers below."""
    return {path.removeprefix("/") if path.count("/") == 1 else path: value for path, value in _leaves(answer, "")}


def _leaves(value: Any, path: str) -> Iterator[tuple[str, Any]]:  # noqa: ANN401 - any JSON value
    """Yield the single values of an answer; a list that holds objects as a whole as well, so that none may be added."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _leaves(inner, f"{path}/{key}")
        return
    yield path, value
    if _holds_objects(value):
        for index, inner in enumerate(value):
            yield from _leaves(inner, f"{path}/{index}")


def _holds_objects(value: Any) -> bool:  # noqa: ANN401 - any JSON value
    return isinstance(value, list) and any(isinstance(inner, dict) for inner in value)


def _depth(value: Any) -> int:  # noqa: ANN401 - any JSON value
    """Return how many objects and lists lie within each other."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else None
    return 0 if inner is None else 1 + max(map(_depth, inner), default=0)
