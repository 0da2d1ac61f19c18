"""MGSM: 250 word problems of GSM8K translated by people into ten languages (Shi et al. 2022, arXiv:2210.03057)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from qeval.jsonl import read_text
from qeval.suites.check import RawCase
from qeval.suites.importers._languages import by_language
from qeval.suites.importers._origin import files_of, licence_of
from qeval.suites.importers._word_problems import MAX_NEW_TOKENS, NOTE, problem
from qeval.suites.importers.base import Dropped, Reading, Wanted, made_or_dropped

SOURCE = "a file mgsm_<lang>.tsv, or a folder of them"
TAKES = frozenset({"lang"})


def read(wanted: Wanted) -> Reading:
    """Read problems; a problem and its translations are one cluster."""
    files = by_language(files_of(wanted.source, "*.tsv", SOURCE), r"mgsm_([\w-]+)\.tsv$", wanted.lang)
    return Reading(
        _rows(files),
        description="Arithmetic word problems in several languages (MGSM).",
        max_new_tokens=MAX_NEW_TOKENS,
        licence=licence_of(wanted.source),
        notes=(NOTE, "A cluster is one problem with its translations: the same line of each language's file."),
    )


def _rows(files: Sequence[tuple[str, Path]]) -> Iterator[RawCase | Dropped]:
    for lang, path in files:
        for number, line in enumerate(read_text(path).rstrip("\n").split("\n"), start=1):
            where = f"{path.name}, line {number}"
            columns = line.rstrip("\r").split("\t")
            if len(columns) != 2:
                yield Dropped(where, "not two columns, question and number", f"{len(columns)} columns")
                continue
            rest = {"id": f"{lang}-{number:03d}", "cluster": f"problem-{number:03d}"}
            yield made_or_dropped(where, problem, where, columns[0], columns[1], lang, rest)
