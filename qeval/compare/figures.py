"""Figures: interval and p-values of a slice's counts."""

from __future__ import annotations

from typing import NamedTuple

from qeval.compare.clusters import FEWEST, MANY, design_effect, sign_flip_midp
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
    """Independent yes/no pairs that would say as much: cases that share a cluster count for less."""
    few_clusters: bool
    """Under 10 clusters: their spread cannot be estimated."""


def figures(counts: Counts, margin: float, at: Levels, largest: int | None = None) -> Figures | None:
    """Compute the figures of a slice; None without pairs.

    Args:
        counts: of the slice.
        margin: as a difference of rates.
        at: the levels.
        largest: pairs in the largest cluster that was planned; None: of those seen.
    """
    if counts.n == 0:
        return None
    effect = design_effect(counts.cluster_sizes, counts.cluster_nets, counts.lost + counts.won, counts.squares)
    if not at.anytime:
        return _at_the_end(counts, margin, at, effect)
    return _anytime(counts, margin, at, largest or max(counts.cluster_sizes))._replace(
        effective_n=counts.n / max(effect, 1.0)
    )


def _at_the_end(counts: Counts, margin: float, at: Levels, effect: float) -> Figures:
    """Figures for a number of cases that was fixed before."""
    lost, won, n = counts.lost / effect, counts.won / effect, counts.n / effect
    independent = counts.clusters == counts.n
    df = None if independent or counts.clusters >= MANY else max(1, counts.clusters - 1)
    quantile = upper_quantile(at.margin, df)
    low, high = tango(lost, won, n, quantile)
    p_noninferior = noninferiority_p(lost, won, n, margin, df)
    if counts.squares != counts.flips and counts.difference is not None:
        # However small the changes: what happened in none of the cases may still happen in others.
        least = quantile**2 / (min(counts.n, n) + quantile**2)
        low, high = min(low, counts.difference - least), max(high, counts.difference + least)
        left = margin + counts.difference
        p_noninferior = max(p_noninferior, noninferiority_p(0, 0, min(counts.n, n), left, df) if left > 0 else 0.5)
    return Figures(
        low=max(low, -1.0),
        high=min(high, 1.0),
        p_harm=_harm(counts, independent, sign=1),
        p_gain=_harm(counts, independent, sign=-1),
        p_noninferior=p_noninferior,
        effective_n=min(n, counts.n),
        few_clusters=counts.clusters < FEWEST,
    )


def _harm(counts: Counts, independent: bool, sign: int) -> float:
    """One-sided mid-p for harm (sign 1) or gain (sign -1)."""
    if independent and counts.squares == counts.flips:
        return harm_midp(*((counts.losses, counts.gains) if sign > 0 else (counts.gains, counts.losses)))
    return sign_flip_midp([sign * net for net in counts.cluster_nets])


def _anytime(counts: Counts, margin: float, at: Levels, largest: int) -> Figures:
    """Figures that hold however often one looked before, and whatever ended the run."""
    sizes, nets = counts.cluster_sizes, counts.cluster_nets
    mirrored = [-net for net in nets]
    return Figures(
        low=confidence_bound(sizes, nets, at.margin, largest),
        high=-confidence_bound(sizes, mirrored, at.margin, largest),
        p_harm=min(1.0, 1 / harm_evidence(nets)),
        p_gain=min(1.0, 1 / harm_evidence(mirrored)),
        p_noninferior=min(1.0, 1 / margin_evidence(sizes, nets, margin, largest)),
        effective_n=counts.n,
        few_clusters=counts.clusters < FEWEST,
    )
