"""What a model says is what the record holds: marks stay, end and padding go, thoughts stand apart from answers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from qeval.jsonl import read_lines
from tests.grading.case_files import named
from tests.runner.said import outcome_of

_ROWS = [line.value for line in read_lines(Path(__file__).with_name("said.jsonl"))]


@pytest.mark.parametrize("row", _ROWS, ids=lambda row: row["id"])
def test_the_record_holds_what_was_said(row: dict[str, Any], tmp_path: Path) -> None:
    outcome = outcome_of(row, tmp_path)
    told = {
        "grade": named(outcome.grades[0]),
        "text": outcome.text,
        "visible": outcome.visible,
        "thought": outcome.thought,
        "seen": list(outcome.special or ()),
        "finish": outcome.finish,
        "failure": outcome.failure,
        "tokens": len(outcome.token_ids),
    }
    assert {key: told[key] for key in row["expect"]} == row["expect"]
