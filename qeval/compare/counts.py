"""Counts: a slice's pairs reduced to whole numbers, from which all statistics follow."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import NamedTuple

from qeval.compare.pairs import Scored


class Counts(NamedTuple):
    """The paired table of a slice on one metric."""

    planned: int
    """Cases of the slice, graded or not."""
    n: int
    """Pairs graded in both arms."""
    baseline_passed: int
    candidate_passed: int
    losses: int
    gains: int
    changed_wrong: int
    changed_text: int
    cluster_sizes: tuple[int, ...]
    """Pairs in each cluster."""
    cluster_nets: tuple[int, ...]
    """Gains minus losses in each cluster, in the same order."""
    unanswered: dict[str, int]
    """Graded in the baseline and not in the candidate, by class."""
    baseline_unanswered: dict[str, int]

    @property
    def flips(self) -> int:
        """Losses and gains together."""
        return self.losses + self.gains

    @property
    def clusters(self) -> int:
        """Distinct clusters among the pairs."""
        return len(self.cluster_sizes)


def count(scored: Iterable[Scored]) -> Counts:
    """Reduce the members of a slice to counts."""
    everything = tuple(scored)
    graded = [one for one in everything if one.both]
    table = Counter((one.before, one.after) for one in graded)
    losses, gains, right_twice = table[True, False], table[False, True], table[True, True]
    changed = Counter((one.before, one.after) for one in graded if one.pair.text_changed)
    sizes, nets = _by_cluster(graded)
    return Counts(
        planned=len(everything),
        n=len(graded),
        baseline_passed=right_twice + losses,
        candidate_passed=right_twice + gains,
        losses=losses,
        gains=gains,
        changed_wrong=changed[False, False],
        changed_text=changed.total(),
        cluster_sizes=sizes,
        cluster_nets=nets,
        unanswered=_classes(one.after_absence for one in everything if one.before is not None),
        baseline_unanswered=_classes(one.before_absence for one in everything if one.after is not None),
    )


def as_losses(scored: Iterable[Scored]) -> tuple[Scored, ...]:
    """Return the worst case for the candidate: what the baseline answered and it did not counts as wrong.

    Where the baseline was right, that is a loss.
    """
    return tuple(
        one._replace(after=False, after_absence=None) if one.before is not None and one.after is None else one
        for one in scored
    )


def _classes(absences: Iterable[str | None]) -> dict[str, int]:
    return dict(sorted(Counter(absence for absence in absences if absence).items()))


def _by_cluster(graded: list[Scored]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    sizes: dict[tuple[str, str], int] = defaultdict(int)
    nets: dict[tuple[str, str], int] = defaultdict(int)
    for one in graded:
        # Suites are written apart: an equal cluster name in two of them is a coincidence.
        cluster = (one.pair.info.suite, one.pair.info.cluster)
        sizes[cluster] += 1
        nets[cluster] += bool(one.after) - bool(one.before)
    return tuple(sizes.values()), tuple(nets.values())
