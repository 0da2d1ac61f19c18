"""Corrections for looking at many slices at once.

Both return adjusted p-values in the order given: a slice alarms where its adjusted p is at most alpha. None (no
data) is no test: it stays None and does not make the others pay.
"""

from __future__ import annotations

from collections.abc import Sequence


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Holm's step-down: the chance of any false alarm in the family stays at most alpha.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    order = _ascending(p_values)
    adjusted: list[float | None] = [None] * len(p_values)
    largest = 0.0
    for rank, (p, position) in enumerate(order):
        largest = max(largest, min(1.0, (len(order) - rank) * p))
        adjusted[position] = largest
    return adjusted


def benjamini_hochberg(p_values: Sequence[float | None]) -> list[float | None]:
    """Benjamini and Hochberg's step-up: of the alarms raised, a share of at most alpha is false on average.

    >>> benjamini_hochberg([0.01, 0.02, 0.9])
    [0.03, 0.03, 0.9]
    """
    order = _ascending(p_values)
    adjusted: list[float | None] = [None] * len(p_values)
    smallest = 1.0
    for rank in range(len(order), 0, -1):
        p, position = order[rank - 1]
        smallest = min(smallest, len(order) * p / rank)
        adjusted[position] = smallest
    return adjusted


def _ascending(p_values: Sequence[float | None]) -> list[tuple[float, int]]:
    return sorted((p, position) for position, p in enumerate(p_values) if p is not None)
