"""Counts of a slice in which every change is a whole flip."""

from __future__ import annotations

from collections.abc import Sequence

from qeval.compare.counts import Counts


def whole_counts(losses: int, gains: int, sizes: Sequence[int], nets: Sequence[int]) -> Counts:
    """Return the counts of pairs of which the baseline passes all but the gains.

    Args:
        losses: pairs right in the baseline and wrong in the candidate.
        gains: the reverse.
        sizes: pairs in each cluster.
        nets: gains minus losses in each, in the same order.
    """
    n = sum(sizes)
    return Counts(
        planned=n,
        graded=n,
        n=n,
        baseline_passed=n - gains,
        candidate_passed=n - losses,
        losses=losses,
        gains=gains,
        lost=losses,
        won=gains,
        squares=losses + gains,
        changed_wrong=0,
        changed_text=0,
        cluster_sizes=tuple(sizes),
        cluster_nets=tuple(nets),
        unanswered={},
        baseline_unanswered={},
    )
