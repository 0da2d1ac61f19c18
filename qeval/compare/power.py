"""How many cases it takes, and how small a loss a number of cases can show.

The flip rate is the share of pairs that change from right to wrong or back. It is planned (10 % is usual for
4-bit weights of small models, 5 % for 8-bit ones), never read off the run that is being judged.
"""

from __future__ import annotations

import math
from typing import Literal

from qeval.compare.distributions import upper_quantile

FEWEST_REPEATS = 30
"""A noise floor from fewer cases is shown and refuses nothing."""
POWER = 0.8
"""The chance of showing what is there that all planning here asks for."""


def smallest_detectable(flip_rate: float, n: float, alpha: float = 0.05, power: float = POWER) -> float | None:
    """Return the smallest drop of the pass rate that McNemar's one-sided test on n pairs would show.

    Solves `drop * sqrt(n) = z_alpha * sqrt(psi) + z_power * sqrt(psi - drop^2)` for the drop.

    Returns:
        A difference of rates, or None where even all flips being losses would not be shown.

    >>> round(smallest_detectable(0.10, 500) * 100, 2)
    3.51
    >>> smallest_detectable(0.05, 100) is None
    True
    """
    if n <= 0:
        return None
    need, reserve = upper_quantile(alpha) * math.sqrt(flip_rate), upper_quantile(1 - power)
    scale = n + reserve**2
    inner = (need**2) * n - scale * (need**2 - reserve**2 * flip_rate)
    if inner < 0:
        return None
    drop = (need * math.sqrt(n) + math.sqrt(inner)) / scale
    return drop if drop <= flip_rate else None


def cases_to_detect(
    variance: float, effect: float, alpha: float = 0.05, *, power: float = POWER, sides: Literal[1, 2] = 1
) -> int:
    """Return the pairs that show a mean difference `effect` of per-case differences with this variance.

    `n = (z_alpha + z_power)^2 * variance / effect^2`. For yes/no metrics the variance is the flip rate.

    >>> cases_to_detect(1 / 9, 0.03, sides=2)
    969
    """
    needed = (upper_quantile(alpha / sides) + upper_quantile(1 - power)) ** 2 * variance / effect**2
    # A margin made from n cases shall ask for n again, not for n + 1 because of the last binary digit.
    return math.ceil(needed * (1 - 1e-12))


def cases_for_alarm(flip_rate: float, drop: float, alpha: float = 0.05, power: float = POWER) -> int:
    """Return the pairs with which McNemar's one-sided test shows a drop; the inverse of `smallest_detectable`.

    `n = (z_alpha * sqrt(psi) + z_power * sqrt(psi - drop^2))^2 / drop^2`. So large a drop flips at least so many
    cases, so the flip rate is at least the drop.

    >>> cases_for_alarm(0.10, 0.03), cases_for_alarm(0.02, 0.03) == cases_for_alarm(0.03, 0.03)
    (685, True)
    """
    psi = max(flip_rate, drop)
    spread = upper_quantile(alpha) * math.sqrt(psi) + upper_quantile(1 - power) * math.sqrt(psi - drop**2)
    return math.ceil((spread / drop) ** 2 * (1 - 1e-12))


def cases_for_margin(flip_rate: float, margin: float, alpha: float = 0.05, power: float = POWER) -> int:
    """Return the pairs that prove "no loss beyond the margin" if nothing is wrong; never under the floor.

    >>> cases_for_margin(0.10, 0.02), cases_for_margin(0.0, 0.02)
    (1546, 133)
    """
    return max(cases_to_detect(flip_rate, margin, alpha, power=power), zero_flip_floor(margin, alpha))


def zero_flip_floor(margin: float, alpha: float = 0.05) -> int:
    """Return the pairs needed when not one of them flips: z^2 (1 - margin) / margin.

    >>> zero_flip_floor(0.02), zero_flip_floor(0.01)
    (133, 268)
    """
    return math.ceil(upper_quantile(alpha) ** 2 * (1 - margin) / margin)


def repeats_for_margin(n: int, margin: float, alpha: float = 0.05) -> int:
    """Return how many of n cases must run again to show that a margin stands above the noise floor.

    A margin holds with n cases while a variant flips at most `n * margin^2 / (z_alpha + z_power)^2` of them against
    itself. That it flips no more is shown at level alpha by so many cases of which none flips; 30 at least.

    >>> repeats_for_margin(320, 0.0440), repeats_for_margin(160, 0.02), repeats_for_margin(20, 0.02)
    (30, 160, 20)
    """
    tolerable = n * (margin / (upper_quantile(alpha) + upper_quantile(1 - POWER))) ** 2
    needed = 1 if tolerable >= 1 else math.ceil(math.log(alpha) / math.log1p(-tolerable))
    return min(n, max(FEWEST_REPEATS, needed))


def smallest_margin(flip_rate: float, n: float, alpha: float = 0.05, power: float = POWER) -> float:
    """Return the smallest margin that n pairs can be planned to hold; the inverse of `cases_to_detect`.

    >>> round(smallest_margin(0.10, 200), 4)
    0.0556
    """
    return (upper_quantile(alpha) + upper_quantile(1 - power)) * math.sqrt(flip_rate / n)
