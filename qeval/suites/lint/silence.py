"""Cases that expect no call and nothing else, so that any text passes."""

from __future__ import annotations

from collections.abc import Iterator

from qeval.suites.case import Case
from qeval.suites.lint.finding import Finding
from qeval.suites.load import PlacedSuite

_MOST = 0.2
"""Share of a suite that may expect no call alone, beside cases that expect one: they show that a model can keep from
calling. More of them hardly ever flip, whatever a candidate does to its texts."""


def no_call_alone(placed: PlacedSuite) -> Iterator[Finding]:
    """Yield a warning for each such case of a suite that has many of them."""
    cases = placed.suite.cases
    weak = [place for place, case in enumerate(cases) if case.tools and _expects(case) == {"no call"}]
    calling = any("call" in _expects(case) for case in cases)
    if calling and len(weak) <= _MOST * len(cases):
        return
    for place in weak:
        yield Finding(
            level="warning",
            suite=placed.suite.name,
            case=cases[place].id,
            where=placed.places[place],
            text=(
                f"no call is all that is expected, in {len(weak)} of {len(cases)} cases, so any text passes. "
                "Add a grader for the text: contains, exact, or judge with a right answer as its reference."
            ),
        )


def _expects(case: Case) -> set[str]:
    """Return what the graders of a case look at: calls, that there is none, or something else."""
    return {
        str(spec["kind"]) if spec["kind"] != "tool_call" else "call" if spec.get("calls") else "no call"
        for spec in case.graders
    }
