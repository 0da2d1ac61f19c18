"""McNemar's test on the flips of paired cases: exact and mid-p, one- and two-sided.

Under "no change" a flipped case is as likely a loss (right to wrong) as a gain (wrong to right), so the losses
among the flips follow a binomial distribution with probability one half. Cases that did not flip say nothing.

The exact test is too careful with few flips (its size at 5 % is 1.1 % with 100 cases and 5 % flips); mid-p counts
only half of the probability of what was seen (2.9 %) and is what alarms use. Source: Fagerland, Lydersen and
Laake 2013, doi:10.1186/1471-2288-13-91.
"""

from __future__ import annotations

from typing import NamedTuple


class Tail(NamedTuple):
    """The upper tail of a binomial distribution with probability one half, in whole ways out of `2 ** flips`."""

    above: int
    """Ways to see more than was seen."""
    equal: int
    """Ways to see exactly what was seen."""
    total: int

    @property
    def exact(self) -> float:
        """P(X >= seen)."""
        return (self.above + self.equal) / self.total

    @property
    def midp(self) -> float:
        """P(X > seen) + P(X = seen) / 2."""
        return (2 * self.above + self.equal) / (2 * self.total)


def upper_tail(seen: int, flips: int) -> Tail:
    """Return the tail from `seen` of Binomial(flips, 1/2); whole numbers, so exact at any size."""
    if not 0 <= seen <= flips:
        raise ValueError(f"{seen} of {flips} flips: the count must lie between 0 and the number of flips")
    # The shorter side is summed: the ways to see k of `flips` are those to see `flips` - k.
    shorter = min(seen, flips - seen)
    ways, below = 1, 0
    for k in range(shorter):
        below += ways
        ways = ways * (flips - k) // (k + 1)
    total = 1 << flips
    above = below if seen > flips - seen else total - below - ways
    return Tail(above, ways, total)


def harm_midp(losses: int, gains: int) -> float:
    """One-sided mid-p for harm: how surprising so many losses among the flips are, were there no change.

    >>> round(harm_midp(16, 6), 6)
    0.017345
    >>> harm_midp(0, 0)
    0.5
    """
    return upper_tail(losses, losses + gains).midp


def harm_exact(losses: int, gains: int) -> float:
    """One-sided exact p for harm, for when a regulator asks.

    >>> harm_exact(6, 0)
    0.015625
    """
    return upper_tail(losses, losses + gains).exact


def two_sided_exact(losses: int, gains: int) -> float:
    """Two-sided exact p: twice the smaller tail, at most 1.

    >>> two_sided_exact(7, 1), two_sided_exact(0, 0)
    (0.0703125, 1.0)
    """
    return min(1.0, 2 * harm_exact(max(losses, gains), min(losses, gains)))


def two_sided_midp(losses: int, gains: int) -> float:
    """Two-sided mid-p: the exact p less the probability of what was seen.

    >>> two_sided_midp(7, 1)
    0.0390625
    """
    return min(1.0, 2 * harm_midp(max(losses, gains), min(losses, gains)))
