"""Figures: interval and p-values of a slice's counts."""

from __future__ import annotations

from typing import NamedTuple

from qeval.compare.clusters import FEWEST, MANY, design_effect, sign_flip_tail, whole_nets
from qeval.compare.counts import Counts
from qeval.compare.distributions import upper_quantile
from qeval.compare.interval import noninferiority_p, tango
from qeval.compare.levels import Levels
from qeval.compare.mcnemar import harm_midp
from qeval.compare.sequential import confidence_bound, harm_evidence, margin_evidence


class Figures(NamedTuple):
    """What the counts of a slice say, before any correction for many slices."""

    low: float
    """Lower end of the interval of the difference, which excludes `Levels.margin` at each end."""
    high: float
    p_harm: float
    p_gain: float
    p_noninferior: float
    effective_n: float
    """Independent yes/no pairs that would say as much."""
    few_clusters: bool
    """Under 10 clusters: their spread cannot be estimated."""


def figures(counts: Counts, margin: float, at: Levels) -> Figures | None:
    """Compute the figures of a slice; None without pairs."""
    if counts.n == 0:
        return None
    effect = design_effect(counts.cluster_sizes, counts.cluster_nets, counts.lost + counts.won, counts.squares)
    return (_anytime if at.anytime else _at_the_end)(counts, margin, at, effect)


def _at_the_end(counts: Counts, margin: float, at: Levels, effect: float) -> Figures:
    """Figures for a number of cases that was fixed before."""
    lost, won, n = counts.lost / effect, counts.won / effect, counts.n / effect
    independent = counts.clusters == counts.n
    df = None if independent or counts.clusters >= MANY else max(1, counts.clusters - 1)
    low, high = tango(lost, won, n, upper_quantile(at.margin, df))
    return Figures(
        low=low,
        high=high,
        p_harm=_harm(counts, independent, sign=1),
        p_gain=_harm(counts, independent, sign=-1),
        p_noninferior=noninferiority_p(lost, won, n, margin, df),
        effective_n=n,
        few_clusters=counts.clusters < FEWEST,
    )


def _harm(counts: Counts, independent: bool, sign: int) -> float:
    """One-sided mid-p for harm (sign 1) or gain (sign -1)."""
    if independent and counts.squares == counts.flips:
        return harm_midp(*((counts.losses, counts.gains) if sign > 0 else (counts.gains, counts.losses)))
    return sign_flip_tail([sign * net for net in whole_nets(counts.cluster_nets)]).midp


def _anytime(counts: Counts, margin: float, at: Levels, effect: float) -> Figures:
    """Figures that hold however often one looked before, and whatever ended the run."""
    sizes, nets = counts.cluster_sizes, counts.cluster_nets
    mirrored = [-net for net in nets]
    return Figures(
        low=confidence_bound(sizes, nets, at.margin),
        high=-confidence_bound(sizes, mirrored, at.margin),
        p_harm=min(1.0, 1 / harm_evidence(nets)),
        p_gain=min(1.0, 1 / harm_evidence(mirrored)),
        p_noninferior=min(1.0, 1 / margin_evidence(sizes, nets, margin)),
        effective_n=counts.n / effect,
        few_clusters=counts.clusters < FEWEST,
    )
