"""Counts: a slice's pairs reduced to a few numbers, from which all statistics follow."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from qeval.compare.pairs import Scored, once
from qeval.independence import Name


class Counts(NamedTuple):
    """The paired table of a slice on one metric.

    Sums are whole where every value is 0 or 1, and fractions where cases ran repeatedly or a grader gives scores.
    """

    planned: int
    """Cases of the slice, graded or not."""
    graded: int
    """Pairs graded in both arms, each by itself."""
    n: int
    """Of these, those with different prompts: equal ones count once, with their mean. All that follows is of these."""
    baseline_passed: float
    """Sum of the baseline's values."""
    candidate_passed: float
    losses: int
    """Pairs whose value fell."""
    gains: int
    """Pairs whose value rose."""
    lost: float
    """By how much values fell, summed over the losses."""
    won: float
    squares: float
    """Sum of the squared changes; `lost + won` where every change is whole."""
    changed_wrong: int
    changed_text: int
    """Those with a changed text under any of the equal prompts."""
    cluster_sizes: tuple[int, ...]
    """Pairs in each cluster."""
    cluster_nets: tuple[float, ...]
    """Sum of the changes in each cluster, in the same order."""
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

    @property
    def difference(self) -> float | None:
        """Candidate minus baseline, as a difference of rates; None without pairs."""
        return (self.won - self.lost) / self.n if self.n else None


def count(scored: Iterable[Scored]) -> Counts:
    """Reduce the members of a slice to counts."""
    everything = tuple(scored)
    different = once(everything)
    graded = [(one, one.before or 0, one.after or 0) for one in different]
    changes = [after - before for _, before, after in graded]
    texts = {one.pair.member.shared.prompt for one in everything if one.both and one.pair.text_changed}
    changed = [(before, after) for one, before, after in graded if one.pair.member.shared.prompt in texts]
    sizes, nets = _by_cluster(different, changes)
    return Counts(
        planned=len(everything),
        graded=sum(one.both for one in everything),
        n=len(graded),
        baseline_passed=sum(before for _, before, _ in graded),
        candidate_passed=sum(after for _, _, after in graded),
        losses=sum(change < 0 for change in changes),
        gains=sum(change > 0 for change in changes),
        lost=-sum(change for change in changes if change < 0),
        won=sum(change for change in changes if change > 0),
        squares=sum(change * change for change in changes),
        changed_wrong=sum(before == 0 and after == 0 for before, after in changed),
        changed_text=len(changed),
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
        one._replace(after=0, after_absence=None) if one.before is not None and one.after is None else one
        for one in scored
    )


def _classes(absences: Iterable[str | None]) -> dict[str, int]:
    return dict(sorted(Counter(absence for absence in absences if absence).items()))


def _by_cluster(graded: Sequence[Scored], changes: Sequence[float]) -> tuple[tuple[int, ...], tuple[float, ...]]:
    sizes: dict[Name, int] = defaultdict(int)
    nets: dict[Name, float] = defaultdict(int)
    for one, change in zip(graded, changes, strict=True):
        cluster = one.pair.member.shared.cluster
        sizes[cluster] += 1
        nets[cluster] += change
    # Without what binary fractions leave where changes cancel out.
    return tuple(sizes.values()), tuple(round(net, 9) for net in nets.values())
