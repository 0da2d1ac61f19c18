"""Every row of the data files is graded as it says, and every bad grader is refused when it is read."""

from __future__ import annotations

from typing import Any

import pytest

from qeval.errors import UsageError
from qeval.grading import check_grader, grader_kinds
from qeval.jsonl import dumps
from tests.grading.case_files import FOLDER, grades, named, rows

_KINDS = sorted({path.stem for path in FOLDER.iterdir()})


def _rows_with(key: str) -> list[Any]:
    return [pytest.param(row, id=f"{kind}: {row['id']}") for kind in _KINDS for row in rows(kind) if key in row]


def test_every_grader_has_a_file_of_cases():
    assert list(grader_kinds()) == _KINDS


@pytest.mark.parametrize("row", _rows_with("expect"))
def test_an_answer_gets_the_grades_its_row_says(row: dict[str, Any]):
    got = grades(row)
    for metric, expected in row["expect"].items():
        assert named(got[metric]) == expected, got[metric].reason
    first = got[next(iter(row["expect"]))]
    if "reason" in row:
        assert row["reason"] in first.reason
    if "score" in row:
        assert first.score == pytest.approx(row["score"], abs=0.001)
    assert dumps([grade.model_dump() for grade in got.values()]).encode("utf-8")


@pytest.mark.parametrize("row", _rows_with("refused"))
def test_a_bad_grader_is_refused_when_it_is_read(row: dict[str, Any]):
    with pytest.raises(UsageError) as caught:
        check_grader(row["grader"], "case x")
    assert row["refused"] in str(caught.value)
    assert "case x" in str(caught.value)
