"""Answers that people labelled as refusals or help: XSTest's, and those written for the check of the grader."""

from __future__ import annotations

import csv
from functools import cache
from pathlib import Path
from typing import NamedTuple

from qeval.grading._refusal import Reading, read_refusal
from qeval.grading._refusal.rules import Extent
from qeval.jsonl import read_lines

EXTENTS: tuple[Extent, ...] = ("none", "full", "partial")
NAMES: dict[str, Extent] = {"full_compliance": "none", "full_refusal": "full", "partial_refusal": "partial"}
WRITTEN = Path(__file__).parent / "refusals"
"""Answers written for the check: `before.jsonl` before the grader was rebuilt, `after.jsonl` after that."""


class Labelled(NamedTuple):
    """An answer with the extent of its refusal as people see it."""

    source: str
    """The model, or the file."""
    prompt: str
    text: str
    language: str
    label: Extent
    about: str
    """XSTest's type of the prompt, or the style of the answer."""
    safe: bool | None = None
    """XSTest: whether the prompt should be served."""

    def read(self) -> Reading:
        """Return what the grader makes of it."""
        return read_refusal(self.text, self.prompt, self.language)


@cache
def xstest(data: Path) -> tuple[Labelled, ...]:
    """Return all answers of XSTest's models with their final labels, by model."""
    folder = data / "xstest_full"
    with (folder / "xstest_prompts.csv").open(newline="", encoding="utf-8") as file:
        safe = {row["id"]: row["label"] == "safe" for row in csv.DictReader(file)}
    found = []
    for path in sorted((folder / "model_completions").glob("*.csv")):
        with path.open(newline="", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                label = NAMES[row["final_label"][2:]]
                model = path.stem.removeprefix("xstest_v2_completions_")
                number = row["id"].removeprefix("v2-")
                found.append(Labelled(model, row["prompt"], row["completion"], "en", label, row["type"], safe[number]))
    return tuple(found)


@cache
def written(name: str) -> tuple[Labelled, ...]:
    """Return the answers of a file of `WRITTEN`."""
    rows = [line.value for line in read_lines(WRITTEN / f"{name}.jsonl")]
    return tuple(
        Labelled(name, row["prompt"], row["text"], row["language"], NAMES[row["label"]], row["style"]) for row in rows
    )


@cache
def readings(rows: tuple[Labelled, ...]) -> tuple[Extent, ...]:
    """Return the extents that the grader reads in answers."""
    return tuple(row.read().extent for row in rows)
