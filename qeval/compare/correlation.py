"""Pearson's correlation, with no number where there is none."""

from __future__ import annotations

import statistics
from collections.abc import Sequence


def correlation(one: Sequence[float], other: Sequence[float]) -> float | None:
    """Return Pearson's correlation of two lists of one length, None where either does not vary.

    >>> correlation([1, 2, 3], [1, 2, 4]), correlation([0.1, 0.1, 0.1], [1, 2, 4])
    (0.9819805060619656, None)
    """
    # Looked at first: the mean of equal values may be off by a rounding, which would then be all that varies.
    if min(one) == max(one) or min(other) == max(other):
        return None
    try:
        found = statistics.correlation(one, other)
    except statistics.StatisticsError:  # So close together that no square of a difference is above 0.
        return None
    return min(1.0, max(-1.0, found))
