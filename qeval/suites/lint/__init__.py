"""What is valid in a suite and yet not meant: expectations that no answer meets, prompts twice, unknown keywords.

Loading a suite refuses what cannot be used at all; here is what can be run and would mislead. One file a kind of
finding, each a function from cases to findings.
"""

from __future__ import annotations

from collections.abc import Sequence

from qeval.errors import UsageError, told_as_usage
from qeval.suites.case import Case
from qeval.suites.lint.expectations import expectation_flaws
from qeval.suites.lint.finding import Finding as Finding
from qeval.suites.lint.finding import Flaw
from qeval.suites.lint.independence import independence_findings as independence_findings
from qeval.suites.lint.independence import independence_of as independence_of
from qeval.suites.lint.limits import limit_flaws
from qeval.suites.lint.prompts import equal_prompts
from qeval.suites.lint.schemas import schema_flaws
from qeval.suites.lint.silence import no_call_alone
from qeval.suites.lint.stops import stop_flaws
from qeval.suites.load import PlacedSuite


def lint(suites: Sequence[PlacedSuite]) -> list[Finding]:
    """Return what is doubtful in suites, in the order of their cases."""
    return [finding for placed in suites for finding in _lint_one(placed)]


def _lint_one(placed: PlacedSuite) -> list[Finding]:
    # Cases of a generated suite share few schemas; each is walked once.
    known: dict[str, tuple[Flaw, ...]] = {}
    found = [
        Finding(level=flaw.level, suite=placed.suite.name, case=case.id, where=where, text=flaw.text)
        for case, where in zip(placed.suite.cases, placed.places, strict=True)
        for flaw in _flaws(case, known)
    ]
    return [*found, *equal_prompts(placed), *no_call_alone(placed)]


def _flaws(case: Case, known: dict[str, tuple[Flaw, ...]]) -> list[Flaw]:
    try:
        with told_as_usage(f"case '{case.id}'"):
            return [*schema_flaws(case, known), *expectation_flaws(case), *limit_flaws(case), *stop_flaws(case)]
    except UsageError as error:
        # One case whose options a library cannot take must not hide what is found in the others.
        return [Flaw("error", str(error))]
