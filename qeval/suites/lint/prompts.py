"""Cases of a suite that ask the same."""

from __future__ import annotations

from collections.abc import Iterator

from qeval.jsonl import dumps
from qeval.suites.asked import asked
from qeval.suites.case import Case
from qeval.suites.lint.finding import Finding
from qeval.suites.load import PlacedSuite


def equal_prompts(placed: PlacedSuite) -> Iterator[Finding]:
    """Yield a warning for each case whose messages and tools an earlier case has.

    A model answers the same to the same: two such cases count as one, and where other things are expected of them they
    may contradict each other.
    """
    first: dict[str, int] = {}
    cases = placed.suite.cases
    for index, case in enumerate(cases):
        earlier = first.setdefault(asked(case), index)
        if earlier == index:
            continue
        of = f"the prompt is that of case '{cases[earlier].id}' at {placed.places[earlier]}"
        text = _said(case, cases[earlier], of)
        if text is not None:
            where = placed.places[index]
            yield Finding(level="warning", suite=placed.suite.name, case=case.id, where=where, text=text)


def _said(case: Case, earlier: Case, of: str) -> str | None:
    if dumps(list(case.graders)) != dumps(list(earlier.graders)):
        return f"{of}, but what is expected differs. Put both graders into one case, or correct one."
    if (case.cluster or case.id) != (earlier.cluster or earlier.id):
        return f"{of}: the two count as one case. Remove one, or give both the same cluster if you mean it."
    return None
