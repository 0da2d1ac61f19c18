"""How likely it is that a comparison excludes a loss beyond its margin when nothing is wrong."""

from __future__ import annotations

import math

from qeval.compare.distributions import upper_probability, upper_quantile
from qeval.compare.interval import tango_score

_EXACT_UP_TO = 400
"""Expected flips up to which every table is visited; beyond, at flip rates to 0.5, the approximation errs by 0.003."""
_SPREADS = 8
"""Numbers of flips further than this many standard deviations from the mean add less than 1e-12."""


def holding_chance(flip_rate: float, n: int, margin: float, alpha: float = 0.05) -> float:
    """Return the probability that n pairs exclude a loss beyond the margin, losses and gains being equally likely.

    Up to 400 expected flips exactly, by enumeration: the flips follow Binomial(n, flip rate), the losses among them
    Binomial(flips, 1/2), and the score interval excludes the margin or not. Beyond, by the normal approximation with
    the score test's own variance (Nam 1997, Biometrics 53:1422).

    >>> round(holding_chance(0.10, 687, 0.03), 3), round(holding_chance(0.02, 138, 0.03), 3)
    (0.792, 0.555)
    """
    if n <= 0:
        return 0.0
    z = upper_quantile(alpha)
    return _exact(flip_rate, n, margin, z) if n * flip_rate <= _EXACT_UP_TO else _approximate(flip_rate, n, margin, z)


def _exact(flip_rate: float, n: int, margin: float, z: float) -> float:
    reach = _SPREADS * math.sqrt(n * flip_rate * (1 - flip_rate)) + _SPREADS
    first, last = max(0, math.floor(n * flip_rate - reach)), min(n, math.ceil(n * flip_rate + reach))
    total, most = 0.0, -1
    for flips in range(first, last + 1):
        # With one more gain at least as many losses are allowed, so the search goes on where it ended.
        while most < flips and tango_score(most + 1, flips - most - 1, n, -margin) > z:
            most += 1
        if most >= 0:
            total += _binomial(flips, n, flip_rate) * sum(_binomial(losses, flips, 0.5) for losses in range(most + 1))
    return min(total, 1.0)


def _approximate(flip_rate: float, n: int, margin: float, z: float) -> float:
    half = n * flip_rate / 2
    allowance = 1 - z / tango_score(half, half, n, -margin)
    return upper_probability(-margin * math.sqrt(n / flip_rate) * allowance)


def _binomial(k: int, n: int, p: float) -> float:
    """P(X = k) of Binomial(n, p)."""
    if p >= 1:
        return float(k == n)
    ways = math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
    return math.exp(ways + k * math.log(p) + (n - k) * math.log1p(-p))
