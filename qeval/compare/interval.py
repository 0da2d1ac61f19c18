"""Intervals for the difference of two paired pass rates, and the test that a loss stays within a margin.

`losses` and `gains` are flips among `n` pairs; the difference is `(gains - losses) / n`, candidate minus baseline.
Counts may be fractions: clustered counts are deflated before they come here.

The score interval (Tango 1998, doi:10.1002/(SICI)1097-0258(19980430)17:8<891::AID-SIM780>3.0.CO;2-B) asks of every
difference D whether it is compatible with what was seen. Unlike the textbook standard error it stays honest with
few flips: with none at all its half width is z^2 / (n + z^2), never zero.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from qeval.compare.distributions import upper_probability, upper_quantile

_BISECTIONS = 45
"""Halvings of a range of at most 2: ends are exact to 1e-13."""


class Interval(NamedTuple):
    """Both ends, as differences of rates."""

    low: float
    high: float


def tango_score(losses: float, gains: float, n: float, difference: float) -> float:
    """Return z(D): how many standard errors the seen difference lies above a supposed one, D in [-1, 1]."""
    excess = gains - losses - n * difference
    a = 2 * n
    b = -(losses + gains) + (2 * n - gains + losses) * difference
    c = -losses * difference * (1 - difference)
    q = (math.sqrt(max(b * b - 4 * a * c, 0.0)) - b) / (2 * a)
    variance = n * (2 * q + difference * (1 - difference))
    if variance > 0:
        return excess / math.sqrt(variance)
    # At D = -1 and 1 there is no variance left: either D is what was seen, or it is impossible.
    return 0.0 if abs(excess) < 1e-12 * n else math.copysign(math.inf, excess)


def tango(losses: float, gains: float, n: float, quantile: float) -> Interval:
    """Return the score interval {D: |z(D)| <= quantile}, by bisection.

    Args:
        losses: pairs right in the baseline and wrong in the candidate.
        gains: the reverse.
        n: all pairs, above 0.
        quantile: of the normal (or, with few clusters, of Student's t) distribution; 1.645 for 90 %.

    >>> low, high = tango(16, 6, 161, 1.959964)
    >>> round(low, 4), round(high, 4)
    (-0.124, -0.0054)
    >>> round(tango(0, 0, 200, 1.644854).low, 5)
    -0.01335
    """
    _check(losses, gains, n)
    return Interval(-_reach(gains, losses, n, quantile), _reach(losses, gains, n, quantile))


def _reach(losses: float, gains: float, n: float, quantile: float) -> float:
    """Return the upper end. The lower one is that of the mirrored table, with its sign turned."""
    inside, outside = (gains - losses) / n, 1.0
    for _ in range(_BISECTIONS):
        middle = (inside + outside) / 2
        if tango_score(losses, gains, n, middle) >= -quantile:
            inside = middle
        else:
            outside = middle
    return (inside + outside) / 2


def noninferiority_p(losses: float, gains: float, n: float, margin: float, df: int | None = None) -> float:
    """Return the p-value against "the candidate is worse by the margin or more" (H0: difference <= -margin)."""
    _check(losses, gains, n)
    return upper_probability(tango_score(losses, gains, n, -margin), df)


def newcombe(both_wrong: int, gains: int, losses: int, both_right: int, level: float) -> Interval:
    """Return Newcombe's method 10: Wilson intervals of both rates, joined through their correlation.

    A second opinion beside Tango for reports that ask for it; nothing is decided by it.
    Source: Newcombe 1998, doi:10.1002/(SICI)1097-0258(19981130)17:22<2635::AID-SIM954>3.0.CO;2-C.

    >>> low, high = newcombe(59, 6, 16, 80, level=0.95)
    >>> round(low, 4), round(high, 4)
    (-0.1186, -0.0046)
    """
    n = both_wrong + gains + losses + both_right
    _check(losses, gains, n)
    z = upper_quantile((1 - level) / 2)
    candidate, baseline = (gains + both_right) / n, (losses + both_right) / n
    candidate_low, candidate_high = wilson(candidate, n, z)
    baseline_low, baseline_high = wilson(baseline, n, z)
    phi = _phi(both_wrong, gains, losses, both_right)
    difference = candidate - baseline
    return Interval(
        difference - _joined(candidate - candidate_low, baseline_high - baseline, phi),
        difference + _joined(candidate_high - candidate, baseline - baseline_low, phi),
    )


def _joined(one: float, other: float, phi: float) -> float:
    return math.sqrt(max(one * one - 2 * phi * one * other + other * other, 0.0))


def _phi(a: int, b: int, c: int, d: int) -> float:
    product = (a + b) * (c + d) * (a + c) * (b + d)
    if product == 0:
        return 0.0
    surplus = a * d - b * c
    # The continuity correction applies only where the two arms agree more than by chance.
    return (max(surplus - (a + b + c + d) / 2, 0.0) if surplus > 0 else surplus) / math.sqrt(product)


def wilson(rate: float, n: float, z: float) -> Interval:
    """Return Wilson's score interval of a rate seen in n cases.

    >>> low, high = wilson(0.0, 100, 1.959964)
    >>> round(low, 4), round(high, 4)
    (0.0, 0.037)
    """
    centre = rate + z * z / (2 * n)
    half = z * math.sqrt(rate * (1 - rate) / n + z * z / (4 * n * n))
    return Interval((centre - half) / (1 + z * z / n), (centre + half) / (1 + z * z / n))


def _check(losses: float, gains: float, n: float) -> None:
    if n <= 0 or losses < 0 or gains < 0 or losses + gains > n * (1 + 1e-9):
        raise ValueError(f"{losses} losses and {gains} gains among {n} pairs: no such table")
