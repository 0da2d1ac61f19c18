"""Cases that share a document, a template or a translation source are not independent.

Two corrections, both of which vanish where every case is its own cluster:

* the harm test flips the sign of whole clusters instead of single cases (exact, so valid with few flips);
* the interval is computed from counts divided by the design effect, the factor by which clustering inflates
  the variance of the difference. With under 40 clusters Student's t takes the place of the normal quantile.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from qeval.compare.mcnemar import Tail

FEWEST = 10
"""Under this many clusters their spread cannot be estimated, and nothing is concluded."""
MANY = 40
"""From this many clusters on the normal quantile serves."""


def sign_flip_tail(nets: Collection[int]) -> Tail:
    """Return the tail of the sign-flip test for harm.

    Under "no change" the net result of each cluster is as likely turned around. Counts, over all `2 ** clusters`
    signs, how often the sum of losses is at least what was seen; McNemar's test where every net is -1, 0 or 1.

    Args:
        nets: gains minus losses of each cluster.

    >>> sign_flip_tail([-1, -1, -1, 1]).midp
    0.1875
    """
    sizes = [abs(net) for net in nets if net]
    seen = -sum(net for net in nets if net < 0)
    ways = [1] + [0] * sum(sizes)
    top = 0
    for size in sizes:
        top += size
        # ways[s]: how many choices of losing clusters add up to s losses; from the top, so each counts once.
        for total in range(top, size - 1, -1):
            ways[total] += ways[total - size]
    return Tail(sum(ways[seen + 1 :]), ways[seen], 1 << len(sizes))


def design_effect(sizes: Sequence[int], nets: Sequence[int], flips: int) -> float:
    """Return max(1, variance of the difference with clusters / without).

    Args:
        sizes: pairs in each cluster.
        nets: gains minus losses in each, in the same order.
        flips: losses plus gains over all.

    >>> design_effect([5] * 4, [-5, 0, 0, 0], flips=5)
    6.666666666666667
    >>> design_effect([1] * 4, [-1, 0, 0, 1], flips=2)
    1.0
    """
    n, count = sum(sizes), len(sizes)
    if count < 2 or count == n:
        return 1.0
    mean = sum(nets) / n
    without = flips - n * mean * mean
    if without <= 0:
        return 1.0
    spread = sum((net - size * mean) ** 2 for size, net in zip(sizes, nets, strict=True))
    return max(1.0, count / (count - 1) * spread / without)
