"""Figures: interval and p-values of a slice's counts."""

from __future__ import annotations

from typing import NamedTuple

from qeval.compare.clusters import FEWEST, MANY, design_effect, sign_flip_tail
from qeval.compare.counts import Counts
from qeval.compare.distributions import upper_quantile
from qeval.compare.interval import noninferiority_p, tango
from qeval.compare.mcnemar import harm_midp


class Figures(NamedTuple):
    """What the counts of a slice say, before any correction for many slices."""

    low: float
    """Lower end of the 1 - 2 alpha interval of the difference."""
    high: float
    p_harm: float
    p_gain: float
    p_noninferior: float
    few_clusters: bool
    """Under 10 clusters: their spread cannot be estimated."""


def figures(counts: Counts, margin: float, alpha: float) -> Figures | None:
    """Compute the figures of a slice; None without pairs."""
    if counts.n == 0:
        return None
    effect = design_effect(counts.cluster_sizes, counts.cluster_nets, counts.flips)
    losses, gains, n = counts.losses / effect, counts.gains / effect, counts.n / effect
    independent = counts.clusters == counts.n
    df = None if independent or counts.clusters >= MANY else max(1, counts.clusters - 1)
    low, high = tango(losses, gains, n, upper_quantile(alpha, df))
    return Figures(
        low=low,
        high=high,
        p_harm=_harm(counts, independent, sign=1),
        p_gain=_harm(counts, independent, sign=-1),
        p_noninferior=noninferiority_p(losses, gains, n, margin, df),
        few_clusters=counts.clusters < FEWEST,
    )


def _harm(counts: Counts, independent: bool, sign: int) -> float:
    """One-sided mid-p for harm (sign 1) or gain (sign -1)."""
    if independent:
        return harm_midp(*((counts.losses, counts.gains) if sign > 0 else (counts.gains, counts.losses)))
    return sign_flip_tail([sign * net for net in counts.cluster_nets]).midp
