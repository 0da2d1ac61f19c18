"""Cases that share a document, a template or a translation source are not independent.

Two corrections, both of which vanish where every case is its own cluster:

* the harm test flips the sign of whole clusters instead of single cases (exact, so valid with few flips);
* the interval is computed from counts divided by the design effect, the factor by which clustering inflates
  the variance of the difference. With under 40 clusters Student's t takes the place of the normal quantile.

Values between 0 and 1 (means over repeats, scores) take the same way: a change by half has a quarter of a flip's
variance, which the design effect takes into account, so that one interval serves all
(docs/operating-characteristics.md compares it with the bootstrap).
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence

from qeval.compare.distributions import upper_probability
from qeval.compare.mcnemar import Tail

FEWEST = 10
"""Under this many clusters their spread cannot be estimated, and nothing is concluded."""
_GRID = 64
"""Steps of the largest fractional net: rounding to them is small beside the spread of the sum."""
_COUNTED = 50
"""Changed clusters up to which fractions are enumerated."""
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


def sign_flip_midp(nets: Collection[float]) -> float:
    """Return the mid-p of the sign-flip test for harm, of nets that may be fractions.

    Whole nets are counted exactly. Fractions are rounded to 64ths of the largest, and from 50 clusters on that changed
    the sum of the nets over the root of their squares takes the place of counting, which is then as good.

    >>> sign_flip_midp([-1, -1, -1, 1]), sign_flip_midp([-0.5, -0.5, -0.5, 0.5])
    (0.1875, 0.1875)
    """
    if all(net == int(net) for net in nets):
        return sign_flip_tail([int(net) for net in nets]).midp
    changed = [net for net in nets if net]
    if len(changed) >= _COUNTED:
        return upper_probability(-sum(changed) / math.sqrt(sum(net * net for net in changed)))
    scale = _GRID / max(abs(net) for net in changed)
    return sign_flip_tail([round(net * scale) for net in changed]).midp


def design_effect(sizes: Sequence[int], nets: Sequence[float], changes: float, squares: float) -> float:
    """Return the variance of the difference, over what its binomial variance would be with whole, unclustered flips.

    At least 1 where changes are whole; less where they are fractions. Never under the variance that the changes have
    without clusters: that clusters cancel out is not relied on.

    Args:
        sizes: pairs in each cluster.
        nets: sum of the changes in each, in the same order.
        changes: sum of the sizes of all changes; losses plus gains where they are whole.
        squares: sum of the squared changes.

    >>> design_effect([5] * 4, [-5, 0, 0, 0], changes=5, squares=5)
    6.666666666666667
    >>> design_effect([1] * 4, [-1, 0, 0, 1], changes=2, squares=2)
    1.0
    >>> design_effect([1] * 4, [-0.5, 0, 0, 0.5], changes=1, squares=0.5)
    0.6666666666666666
    """
    n, count = sum(sizes), len(sizes)
    if count < 2:
        return 1.0
    mean = sum(nets) / n
    binomial, own = changes - n * mean * mean, squares - n * mean * mean
    whole, alone = squares == changes, count == n
    if binomial <= 0 or (whole and alone):
        return 1.0
    spread = sum((net - size * mean) ** 2 for size, net in zip(sizes, nets, strict=True))
    # Equal changes everywhere have no spread to judge by; they count as whole ones, which is the careful side.
    return max(own, count / (count - 1) * spread) / binomial if spread > 1e-12 * n else 1.0
