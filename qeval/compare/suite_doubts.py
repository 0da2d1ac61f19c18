"""What suites at hand are too small to show under a policy, in sentences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from qeval.compare.clusters import FEWEST
from qeval.compare.policy import Policy
from qeval.compare.power import POWER
from qeval.compare.suite_plan import SlicePlan, plan_suites
from qeval.suites.case import Suite
from qeval.units import percent


def suite_doubts(suites: Sequence[Suite], policy: Policy) -> Iterator[str]:
    """Yield a sentence for each slice that has too few clusters, or too few cases for its margin if nothing is wrong.

    Args:
        suites: at the size to be run.
        policy: margins, level, planned flip rate, required slices.
    """
    plan = plan_suites(suites, policy, POWER, correlation=0)
    of_pool = next(((row.n, row.clusters) for row in plan.slices if row.label == "all"), None)
    for row in plan.slices:
        if not row.n:
            yield f"{row.label}: the policy requires this slice, and no case is in it. Add cases, or correct its name."
        elif row.clusters < FEWEST:
            # A lone suite is the pool; once is enough.
            if row.label == "all" or (row.n, row.clusters) != of_pool:
                yield (
                    f"{row.label}: {row.n} cases in {row.clusters} clusters; under {FEWEST} clusters nothing is "
                    "concluded. Add cases of other documents or templates."
                )
        elif row.suffices == "no":
            yield _too_small(row, plan.flip_rate)


def _too_small(row: SlicePlan, flip_rate: float) -> str:
    return (
        f"{row.label}: {row.n:,} cases; to exclude a loss of {100 * row.margin:.1f} points it takes about "
        f"{row.cases_needed:,} (where {percent(flip_rate)} of the cases flip). Add cases, or widen its margin in the "
        "policy."
    )
