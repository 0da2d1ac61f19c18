"""Excess churn: the flips between two variants that their own noise does not explain.

Two runs of one variant A that differ in nothing but batching disagree on a share rho_A of the cases. Of two variants,
the flip rate is psi = E(mu_B - mu_A)^2 + (rho_A + rho_B) / 2, with mu the chance of each to pass a case; so
psi - (rho_A + rho_B) / 2 is the part that the change of format made.

The interval joins those of the three rates (MOVER: Zou and Donner 2008, doi:10.1002/sim.3095) as if they were
independent; since they are estimated on shared cases it is rather too wide than too narrow.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Hashable, Sequence
from typing import NamedTuple

from qeval.compare.distributions import upper_quantile
from qeval.compare.interval import Interval, wilson


class Rate(NamedTuple):
    """How often something happened, with the number of independent cases that this is worth."""

    value: float
    n: float


class Excess(NamedTuple):
    """Excess churn, as a difference of rates."""

    estimate: float
    low: float
    high: float


def disagreement(passed: float, runs: int) -> float:
    """Return the chance that two different runs of a case disagree, of `runs` of which `passed` passed.

    >>> disagreement(1, 2), disagreement(3, 3)
    (1.0, 0.0)
    """
    return 2 * passed * (runs - passed) / (runs * (runs - 1))


def clustered_rate(
    values: Sequence[float], clusters: Sequence[Hashable], weights: Sequence[float] | None = None
) -> Rate:
    """Return the weighted mean of values in [0, 1] with its effective n.

    Unequal weights and clusters that agree among themselves make cases count for less.

    Args:
        values: one at least.
        clusters: of each value.
        weights: above 0, of each value; None: all alike.
    """
    weights = weights or [1.0] * len(values)
    total, squares = sum(weights), sum(weight * weight for weight in weights)
    mean = min(1.0, sum(weight * value for weight, value in zip(weights, values, strict=True)) / total)
    moves = [weight * (value - mean) for weight, value in zip(weights, values, strict=True)]
    sums: dict[Hashable, float] = defaultdict(float)
    for move, cluster in zip(moves, clusters, strict=True):
        sums[cluster] += move
    apart, together = sum(move * move for move in moves), sum(move * move for move in sums.values())
    return Rate(mean, total * total / squares / max(1.0, together / apart if apart > 0 else 1.0))


def excess_churn(between: Rate, ours: Rate, theirs: Rate, alpha: float) -> Excess:
    """Return the flip rate between two variants less the mean of their own, with its 1 - 2 alpha interval.

    >>> found = excess_churn(Rate(0.10, 500), Rate(0.02, 100), Rate(0.04, 100), 0.05)
    >>> round(found.estimate, 3), round(found.low, 3), round(found.high, 3)
    (0.07, 0.034, 0.097)
    """
    z = upper_quantile(alpha)
    psi, rho_a, rho_b = (wilson(rate.value, rate.n, z) for rate in (between, ours, theirs))
    estimate = between.value - (ours.value + theirs.value) / 2
    return Excess(
        estimate,
        estimate - _joined(between.value - psi.low, _above(ours, rho_a), _above(theirs, rho_b)),
        estimate + _joined(psi.high - between.value, ours.value - rho_a.low, theirs.value - rho_b.low),
    )


def _above(rate: Rate, interval: Interval) -> float:
    return interval.high - rate.value


def _joined(whole: float, half: float, other_half: float) -> float:
    return math.sqrt(whole**2 + half**2 / 4 + other_half**2 / 4)
