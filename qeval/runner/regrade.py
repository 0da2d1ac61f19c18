"""A stored record graded again by the graders as they are now, without the model."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from qeval.errors import UsageError
from qeval.outcome import Outcome
from qeval.record import DamagedRecord, load_header, load_outcomes, load_record
from qeval.suites.answers import grade_case
from qeval.suites.case import Suite, size_called
from qeval.suites.load import list_suites, load_suite


class Regraded(NamedTuple):
    """The outcomes of a record with new grades."""

    outcomes: tuple[Outcome, ...]
    changed: tuple[Outcome, ...]
    """Those whose `pass` is another than the record says."""
    other_suites: tuple[str, ...]
    """Suites whose content is another than when the record was made; their cases are graded as they are now."""
    damage: str = ""
    """What of the record is not as it was written; empty where all of it is, or where that was not looked at."""


def regrade(record: Path, sources: Sequence[str], *, check: bool = False) -> Regraded:
    """Grade all outcomes of a record again.

    Args:
        record: its folder.
        sources: folders or `.jsonl` files of suites that are not built in.
        check: read outcomes that are not what was written too, and say so.

    Raises:
        UsageError: no record there, a suite of it is not to be found, or a case has gone from it.
    """
    header = load_header(record)
    builtin = {entry.name for entry in list_suites()}
    suites: dict[str, Suite] = {}
    for name, info in header.suites.items():
        size = size_called(info.size)
        loaded = [load_suite(source, size) for source in sources]
        match = next((suite for suite in loaded if suite.name == name), None)
        if match is None and name not in builtin:
            raise UsageError(f"{record}: its suite '{name}' is not built in. Name its folder: --suites FOLDER")
        suites[name] = match or load_suite(name, size)
    cases = {(name, case.id): case for name, suite in suites.items() for case in suite.cases}
    graded, changed = [], []
    for outcome in load_outcomes(record, "trust" if check else "refuse"):
        if (outcome.suite, outcome.case) not in cases:
            raise UsageError(
                f"{record}: suite '{outcome.suite}' as it is now has no case '{outcome.case}'. Grade it with the qeval "
                "and the suite that made the record."
            )
        new = grade_case(outcome, cases[outcome.suite, outcome.case])
        graded.append(new)
        if new.passed() != outcome.passed():
            changed.append(new)
    others = tuple(name for name, suite in suites.items() if suite.digest != header.suites[name].digest)
    return Regraded(tuple(graded), tuple(changed), others, _damage(record) if check else "")


def _damage(record: Path) -> str:
    try:
        load_record(record)
    except DamagedRecord as error:
        return str(error)
    return ""
