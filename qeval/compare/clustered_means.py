"""Means over tokens that are nested in clusters, and percentiles.

Tokens of one answer, and answers on one document, resemble each other, so the clusters are drawn and not the tokens.
The mean over all tokens is then a ratio of two sums over clusters, sum(S) / sum(m), with S the sum and m the number of
tokens of a cluster; its standard error is that of the linearised ratio (Cochran 1977, Sampling Techniques, 6.3;
Miller 2024, arXiv:2411.00640, for evaluations):

    SE = sqrt(C / (C - 1) * sum((S - mean * m)^2)) / sum(m)

which is the usual standard error where each cluster is one token. Intervals use Student's t with C - 1 degrees of
freedom.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from qeval.compare.distributions import upper_quantile
from qeval.compare.interval import wilson

FEWEST_FOR_PERCENTILES = 100
"""Tokens under which no percentile is given, as in llama.cpp."""


class Mean(NamedTuple):
    """A mean over tokens with its standard error and both ends of its 1 - 2 alpha interval."""

    value: float
    se: float | None
    """None with fewer than two clusters, whose spread is not known; so are the ends."""
    low: float | None
    high: float | None


def clustered_mean(sums: Sequence[float], sizes: Sequence[int], alpha: float) -> Mean:
    """Return the mean over tokens.

    Args:
        sums: of the values in each cluster.
        sizes: tokens in each, above 0.
        alpha: level of each end of the interval.

    >>> found = clustered_mean([1, 2, 3, 4], [1, 1, 1, 1], 0.05)
    >>> found.value, round(found.se, 4), round(found.low, 4)
    (2.5, 0.6455, 0.9809)
    """
    count, total = len(sizes), sum(sizes)
    mean = math.fsum(sums) / total
    if count < 2:
        return Mean(mean, None, None, None)
    spread = math.fsum((part - mean * size) ** 2 for part, size in zip(sums, sizes, strict=True))
    se = math.sqrt(count / (count - 1) * spread) / total
    half = upper_quantile(alpha, count - 1) * se
    return Mean(mean, se, mean - half, mean + half)


def clustered_share(hits: Sequence[int], sizes: Sequence[int], alpha: float) -> Mean:
    """Return a share of the tokens; its ends are Wilson's for the tokens that these are worth, never of no width.

    That many tokens without clusters would have the same standard error; where all or none are hits, each cluster is
    worth one.

    Args:
        hits: tokens of each cluster that count.
        sizes: tokens in each.
        alpha: level of each end of the interval.

    >>> found = clustered_share([5] * 20, [5] * 20, 0.05)
    >>> found.value, found.se, round(found.low, 3), found.high
    (1.0, 0.0, 0.87, 1.0)
    """
    mean = clustered_mean(hits, sizes, alpha)
    if mean.se is None:
        return mean
    worth = min(sum(sizes), mean.value * (1 - mean.value) / mean.se**2) if mean.se > 0 else float(len(sizes))
    low, high = wilson(mean.value, worth, upper_quantile(alpha, len(sizes) - 1))
    return Mean(mean.value, mean.se, max(0.0, low), min(1.0, high))


def percentile(ordered: Sequence[float], fraction: float) -> float:
    """Return a percentile of sorted values: linear interpolation at `fraction * (n - 1)`, as in llama.cpp.

    >>> percentile([1.0, 2.0, 4.0], 0.5), percentile([1.0, 2.0, 4.0], 0.75)
    (2.0, 3.0)
    """
    place = fraction * (len(ordered) - 1)
    below = math.floor(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (place - below) * (ordered[above] - ordered[below])
