"""Cases that are no independent evidence, in all suites together: equal and near-equal prompts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from qeval.independence import Independence, Placed, independence, independence_notes, settle
from qeval.suites.asked import known
from qeval.suites.case import Suite
from qeval.suites.lint.finding import Finding
from qeval.suites.near_equal import near_equal_names


def independence_of(suites: Sequence[Suite]) -> Independence:
    """Sum up how independent the cases of suites are that run together."""
    cases = [(suite.name, case) for suite in suites for case in suite.cases]
    shared, near = settle(known(suite, case) for suite, case in cases), near_equal_names(suites)
    keys = [(suite, case.id) for suite, case in cases]
    return independence([Placed(*key, shared[key], near.get(key)) for key in keys])


def independence_findings(found: Independence) -> Iterator[Finding]:
    """Yield a warning for what is not independent."""
    for note in independence_notes(found):
        yield Finding(level="warning", text=f"{note}.")
