"""JSONSchemaBench: real JSON Schemas; the model writes an instance (Geng et al. 2025, arXiv:2501.10868)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from qeval.jsonl import dumps, loads, read_text
from qeval.suites.check import RawCase
from qeval.suites.importers._origin import files_of, licence_of
from qeval.suites.importers.base import Dropped, Reading, Wanted, made_or_dropped

SOURCE = "a file with one JSON Schema, or a folder of them"
TAKES: frozenset[str] = frozenset()
_PROMPT = "Write one JSON value that is valid under this JSON Schema. Answer with the JSON alone.\n\n"
_LENGTHS = (1_000, 4_000, 16_000)
"""Bounds of the tag `length`, in characters of the schema."""


def read(wanted: Wanted) -> Reading:
    """Read schemas; the folder a file lies in is its subset."""
    files = files_of(wanted.source, "*.json", SOURCE)
    return Reading(
        _rows(files),
        description="Writing JSON that is valid under a given JSON Schema (JSONSchemaBench).",
        max_new_tokens=1024,
        licence=licence_of(wanted.source),
        notes=("The prompt asks for an instance of the schema that it holds; any valid instance passes.",),
        total=len(files),
    )


def _rows(files: Sequence[Path]) -> Iterator[RawCase | Dropped]:
    for path in files:
        where = f"{path.parent.name}/{path.name}"
        try:
            schema = loads(read_text(path))
        except ValueError as error:
            yield Dropped(where, "the file is not strict JSON", str(error))
            continue
        # MaskBench's files hold the schema beside instances of it.
        if isinstance(schema, dict) and set(schema) >= {"schema", "tests"}:
            schema = schema["schema"]
        if not isinstance(schema, dict):
            yield Dropped(where, "the file holds no JSON Schema")
            continue
        yield made_or_dropped(where, _case, where, schema, path)


def _case(where: str, schema: dict[str, Any], path: Path) -> RawCase:
    text = dumps(schema, indent=1, sort=False)
    length = next((f"to {bound // 1000}k" for bound in _LENGTHS if len(text) <= bound), "over 16k")
    case = {
        "id": f"{path.parent.name}-{path.stem}",
        "prompt": _PROMPT + text,
        "response_schema": schema,
        "graders": [{"kind": "json_schema", "schema": schema}],
        "tags": {"subset": path.parent.name, "length": length},
    }
    return RawCase(where, case)
