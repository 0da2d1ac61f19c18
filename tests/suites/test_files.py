"""Files of cases as editors, spreadsheets and scripts leave them (C30, C31)."""

from __future__ import annotations

from pathlib import Path

import pytest

from qeval.errors import UsageError
from qeval.jsonl import read_lines
from qeval.suites import load_suite

ROWS = [line.value for line in read_lines(Path(__file__).with_name("files.jsonl"))]


def write(row: dict[str, object], folder: Path) -> Path:
    path = folder / "mine.jsonl"
    path.write_bytes(str(row["text"]).encode(str(row["encoding"])))
    return path


@pytest.mark.parametrize("row", [row for row in ROWS if "prompts" in row], ids=lambda row: row["id"])
def test_a_file_holds_the_prompts_that_its_row_says(row, tmp_path):
    assert [case.messages[0].content for case in load_suite(write(row, tmp_path)).cases] == row["prompts"]


@pytest.mark.parametrize("row", [row for row in ROWS if "says" in row], ids=lambda row: row["id"])
def test_a_file_that_cannot_be_meant_says_where_and_why(row, tmp_path):
    with pytest.raises(UsageError) as caught:
        load_suite(write(row, tmp_path))
    assert [part for part in row["says"] if part not in str(caught.value)] == []
