"""Cut a row of things into neighbouring parts at the least total cost: batches of prompts, chunks of tokens."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise


def cheapest_cuts(n: int, cost: Callable[[int, int], float | None]) -> list[tuple[int, int]]:
    """Return (start, end) of the parts of `n` things in their order, by dynamic programming.

    Args:
        n: how many things there are.
        cost: of the part from `start` up to and without `end`; None where it is too large, as is then every part that
            begins earlier with the same end. A part of one thing is always allowed.

    >>> cheapest_cuts(4, lambda start, end: 1 + max([5, 5, 1, 1][start:end]) * (end - start))
    [(0, 2), (2, 4)]
    """
    # For each number of things from the beginning: the least cost, and where the last part begins.
    best: list[tuple[float, int]] = [(0.0, 0)]
    for end in range(1, n + 1):
        found = []
        for start in range(end - 1, -1, -1):
            own = cost(start, end)
            if own is None:
                break
            found.append((best[start][0] + own, start))
        best.append(min(found))
    starts = [n]
    while starts[-1]:
        starts.append(best[starts[-1]][1])
    return list(pairwise(reversed(starts)))
