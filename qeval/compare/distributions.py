"""Quantiles of the normal and of Student's t distribution, from the standard library alone.

scipy has both, but importing it takes longer than the whole comparison; `tests` check these against it.
"""

from __future__ import annotations

import math
from functools import cache
from statistics import NormalDist

_NORMAL = NormalDist()


def upper_quantile(tail: float, df: int | None = None) -> float:
    """Return the point that leaves `tail` above it.

    Args:
        tail: a probability in (0, 1).
        df: degrees of freedom of Student's t; None: the normal distribution.

    >>> round(upper_quantile(0.05), 4), round(upper_quantile(0.05, df=9), 4)
    (1.6449, 1.8331)
    """
    return _NORMAL.inv_cdf(1 - tail) if df is None else _student_quantile(tail, df)


def upper_probability(point: float, df: int | None = None) -> float:
    """Return the probability above a point; `df` as in `upper_quantile`."""
    return _NORMAL.cdf(-point) if df is None else 1 - _student_cdf(point, df)


def _student_cdf(point: float, df: int) -> float:
    """P(T <= point) for whole degrees of freedom: the finite series of Abramowitz and Stegun 26.7.3 and 26.7.4."""
    if math.isinf(point):
        return 1.0 if point > 0 else 0.0
    angle = math.atan(point / math.sqrt(df))
    cosine_squared = math.cos(angle) ** 2
    odd = df % 2 == 1
    term, series = 1.0, 0.0
    for step in range(df // 2):
        series += term
        term *= cosine_squared * ((2 * step + 2) / (2 * step + 3) if odd else (2 * step + 1) / (2 * step + 2))
    even_half = math.sin(angle) * series
    within = 2 / math.pi * (angle + math.cos(angle) * even_half) if odd else even_half
    return (1 + within) / 2


@cache
def _student_quantile(tail: float, df: int) -> float:
    low, high = -1.0, 1.0
    while _student_cdf(low, df) > 1 - tail:
        low *= 2
    while _student_cdf(high, df) < 1 - tail:
        high *= 2
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if _student_cdf(middle, df) < 1 - tail else (low, middle)
    return (low + high) / 2
