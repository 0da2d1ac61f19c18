"""GSM8K: school arithmetic word problems in English (Cobbe et al. 2021, arXiv:2110.14168)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from qeval.suites.check import RawCase
from qeval.suites.importers._lines import json_rows
from qeval.suites.importers._origin import files_of, licence_of
from qeval.suites.importers._word_problems import MAX_NEW_TOKENS, NOTE, problem
from qeval.suites.importers.base import Dropped, Reading, Wanted, made_or_dropped

SOURCE = "a file such as test.jsonl with question and answer, or a folder of them"
TAKES: frozenset[str] = frozenset()
_BEFORE_GOLD = "####"


def read(wanted: Wanted) -> Reading:
    """Read problems; what follows `####` in a worked answer is its gold number."""
    return Reading(
        _rows(files_of(wanted.source, "*.jsonl", SOURCE)),
        description="Arithmetic word problems in English (GSM8K).",
        max_new_tokens=MAX_NEW_TOKENS,
        licence=licence_of(wanted.source),
        notes=(NOTE,),
    )


def _rows(files: Sequence[Path]) -> Iterator[RawCase | Dropped]:
    for path in files:
        for row in json_rows(path):
            if isinstance(row, Dropped):
                yield row
                continue
            question, answer = row.value.get("question"), row.value.get("answer")
            if not isinstance(question, str) or not isinstance(answer, str):
                yield Dropped(row.where, "no text under 'question' and 'answer'")
            elif _BEFORE_GOLD not in answer:
                yield Dropped(row.where, f"no gold number: the answer has no '{_BEFORE_GOLD}'")
            else:
                gold = answer.rsplit(_BEFORE_GOLD, 1)[1].strip()
                yield made_or_dropped(row.where, problem, row.where, question, gold, "en", {}, answer)
