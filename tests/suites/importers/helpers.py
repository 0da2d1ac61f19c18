"""What tests of importers share: an import without files, cases by id, grading of one answer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from qeval.grading import grade_outcome
from qeval.outcome import Outcome
from qeval.suites import Case
from qeval.suites.importers.base import Wanted
from qeval.suites.importing import Choice, Imported, gather
from qeval.suites.question import question_of
from tests.grading.case_files import SHARED

DATA = SHARED / "data"
needs_data = pytest.mark.skipif(not DATA.exists(), reason="the public data do not lie beside this checkout")


def imported(kind: str, source: Path | str, limit: int | None = None, **wanted: Any) -> Imported:
    """Import all rows of a source."""
    return gather(kind, Wanted(str(source), **wanted), Choice(kind, limit), lambda rows, _: rows)


def cases(found: Imported) -> dict[str, Case]:
    """Return the cases of an import by id, as a suite would load them."""
    loaded = [
        Case.model_validate(
            {key: part for key, part in raw.items() if key not in {"prompt", "system"}} | _messages(raw)
        )
        for raw in found.cases
    ]
    return {case.id: case for case in loaded}


def _messages(raw: dict[str, Any]) -> dict[str, Any]:
    if "messages" in raw:
        return {}
    system = [{"role": "system", "content": raw["system"]}] if "system" in raw else []
    return {"messages": [*system, {"role": "user", "content": raw["prompt"]}]}


def fault(case: Case, text: str) -> str | None:
    """Grade a text as a case's answer: None where it passes, else the class of the first required grade that fails."""
    outcome = Outcome(suite="s", case=case.id, batch=0, status="answered", text=text, finish="stop")
    graded = grade_outcome(outcome, case.graders, question_of(case))
    failed = [grade for grade in graded.grades if grade.required and grade.status != "pass"]
    return str(failed[0].fault) if failed else None


def dropped(found: Imported) -> dict[str, int]:
    """Return how many rows were dropped, by reason."""
    reasons = [row.reason for row in found.dropped]
    return {reason: reasons.count(reason) for reason in reasons}
