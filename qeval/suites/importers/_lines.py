"""Rows of JSON Lines files that may hold damaged ones: each is a row or a reason, never an end of the import."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from qeval.jsonl import loads, read_text
from qeval.suites.importers.base import Dropped


class Found(NamedTuple):
    """One row of a source and where it stands."""

    where: str
    value: dict[str, Any]


def json_rows(path: Path) -> Iterator[Found | Dropped]:
    """Yield the rows of a JSON Lines file.

    Raises:
        UsageError: the file cannot be read at all.
    """
    for number, text in enumerate(read_text(path).split("\n"), start=1):
        if not text.strip():
            continue
        where = f"{path.name}, line {number}"
        try:
            value = loads(text)
        except ValueError as error:
            yield Dropped(where, "the line is not JSON", str(error))
            continue
        yield Found(where, value) if isinstance(value, dict) else Dropped(where, "the line is no JSON object")
