"""What suites at hand can show under a policy: the slices that a comparison would judge, planned instead of judged."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

from qeval.compare.clusters import FEWEST
from qeval.compare.holding import holding_chance
from qeval.compare.members import Member, members_of
from qeval.compare.plan import Ask, Planned, cluster_sizes, plan_slices
from qeval.compare.planning import inflated
from qeval.compare.policy import Policy
from qeval.compare.power import cases_for_margin, smallest_detectable
from qeval.independence import kish_design_effect
from qeval.jsonl import dumps
from qeval.record import CaseInfo
from qeval.strict import Strict
from qeval.suites.asked import asked
from qeval.suites.case import Suite

Suffices = Literal["yes", "alone", "no"]


class SlicePlan(Strict):
    """What the cases of one slice can show."""

    label: str
    gates: bool
    """Whether the decision hangs on it; an advisory suite is shown only."""
    n: int
    """Different prompts."""
    clusters: int
    margin: float
    """The margin in force."""
    smallest_detectable: float | None
    """The smallest true drop that raises the alarm at Holm's hardest step; None where none would."""
    cases_needed: int
    """Cases with which this slice, by itself, excludes its margin if nothing is wrong; what reports name."""
    cases_needed_together: int
    """Cases with which it does so often enough for all gating slices to hold together."""
    chance: float
    """The probability that this slice excludes its margin if nothing is wrong."""
    suffices: Suffices
    """Its cases suffice for all to hold together, or for this slice alone, or not."""


class SuitesPlan(Strict):
    """What suites can show together."""

    flip_rate: float
    alpha: float
    power: float
    correlation: float
    tests: int
    """Tests in the Holm family: pool, suites and required slices, those of the same cases once."""
    must_hold: int
    """Gating slices, those of the same cases once."""
    slices: tuple[SlicePlan, ...]
    """The pool first, then suites and required slices."""
    chance: float
    """The probability that all gating slices hold if nothing is wrong, were they independent: slices that share
    cases hold or fail together, so the truth is somewhat higher."""


def plan_suites(suites: Sequence[Suite], policy: Policy, power: float, correlation: float) -> SuitesPlan:
    """Plan the slices that a run of these suites is judged by.

    Args:
        suites: at the size to be run.
        policy: margins, level, planned flip rate, required slices.
        power: the probability asked for, in [0.5, 1).
        correlation: of the results within a cluster, 0 to 1.
    """
    flat = list(members_of(info for suite in suites for info in _infos(suite)).values())
    planned = plan_slices(flat, [suite.name for suite in suites], policy)
    judged = [plan for plan in planned if plan.role != "exploratory"]
    tests = len({plan.asks for plan in judged if plan.asks})
    must_hold = len({plan.asks for plan in judged if plan.level == "critical"})
    rows = [_row(plan, flat, policy, tests=tests, must_hold=must_hold, power=power, r=correlation) for plan in judged]
    return SuitesPlan(
        flip_rate=policy.planning_flip_rate,
        alpha=policy.alpha,
        power=power,
        correlation=correlation,
        tests=tests,
        must_hold=must_hold,
        slices=tuple(rows),
        chance=_together(judged, rows),
    )


def _infos(suite: Suite) -> list[CaseInfo]:
    return [
        CaseInfo(
            suite=suite.name,
            case=case.id,
            tags=case.tags,
            cluster=case.cluster or case.id,
            asked=asked(case),
            expected=dumps(list(case.graders)),
        )
        for case in suite.cases
    ]


def _row(
    plan: Planned, cases: Sequence[Member], policy: Policy, *, tests: int, must_hold: int, power: float, r: float
) -> SlicePlan:
    sizes = cluster_sizes(cases[i] for i in plan.at)
    n, effect, psi = sum(sizes), kish_design_effect(sizes, r), policy.planning_flip_rate
    judged = len(sizes) >= FEWEST

    def needed(chance: float) -> int:
        fewest = math.ceil(FEWEST * n / len(sizes)) if sizes else FEWEST
        return max(inflated(cases_for_margin(psi, plan.margin, policy.alpha, chance), effect), fewest)

    alone, together = needed(power), needed(power ** (1 / max(must_hold, 1)))
    return SlicePlan(
        label=plan.key.label,
        gates=plan.level == "critical",
        n=n,
        clusters=len(sizes),
        margin=plan.margin,
        smallest_detectable=smallest_detectable(psi, n / effect, policy.alpha / tests, power) if judged else None,
        cases_needed=alone,
        cases_needed_together=together,
        chance=holding_chance(psi, math.floor(n / effect), plan.margin, policy.alpha) if judged else 0.0,
        suffices="no" if n < alone else "alone" if n < together else "yes",
    )


def _together(judged: Sequence[Planned], rows: Sequence[SlicePlan]) -> float:
    """Multiply the chances of the gating slices; of slices of the very same questions the least one counts."""
    least: dict[frozenset[Ask], float] = {}
    for plan, row in zip(judged, rows, strict=True):
        if row.gates:
            least[plan.asks] = min(row.chance, least.get(plan.asks, 1.0))
    return math.prod(least.values())
