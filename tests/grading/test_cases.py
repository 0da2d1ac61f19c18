"""Every row of the data files is graded as it says, and every bad grader is refused when it is read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from qeval.errors import UsageError
from qeval.grading import check_grader, grader_kinds
from qeval.jsonl import dumps, read_lines
from tests.grading.case_files import FOLDER, grades, named

_KINDS = sorted({path.stem for path in FOLDER.iterdir()})
_FILES = sorted(FOLDER.rglob("*.jsonl"))


def test_every_grader_has_a_file_of_cases():
    assert list(grader_kinds()) == _KINDS


@pytest.mark.parametrize("path", _FILES, ids=lambda path: str(path.relative_to(FOLDER)))
def test_rows_are_graded_as_they_say(path: Path):
    rows = [line.value for line in read_lines(path)]
    ids = [row["id"] for row in rows]
    assert len(set(ids)) == len(ids)
    # All of a file in one test, since there are thousands of rows.
    wrong = [f"{row['id']}: {fault}" for row in rows if (fault := _refusal_fault(row) or _grade_fault(row))]
    assert not wrong, "\n".join(wrong)


def _grade_fault(row: dict[str, Any]) -> str | None:
    """Return how an answer's grades differ from what its row says."""
    if "expect" not in row:
        return None if "refused" in row else "says neither what to expect nor why it is refused"
    got = grades(row)
    for metric, expected in row["expect"].items():
        if named(got[metric]) != expected:
            return f"{metric}: {named(got[metric])} ({got[metric].reason}), not {expected}"
    first = got[next(iter(row["expect"]))]
    if row.get("reason", "") not in first.reason:
        return f"reason: {first.reason}"
    if "score" in row and first.score != pytest.approx(row["score"], abs=0.001):
        return f"score: {first.score}"
    dumps([grade.model_dump() for grade in got.values()]).encode("utf-8")
    return None


def _refusal_fault(row: dict[str, Any]) -> str | None:
    """Return how the refusal of a bad grader differs from what its row says."""
    if "refused" not in row:
        return None
    try:
        check_grader(row["grader"], "case x")
    except UsageError as error:
        said = str(error)
        return None if row["refused"] in said and "case x" in said else f"refused with: {said}"
    return "is not refused"
