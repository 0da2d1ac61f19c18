"""The figures of a verdict as text, alike in every report."""

from __future__ import annotations

from qeval.compare.report import SelfFlips, Stratum, Verdict
from qeval.units import UNKNOWN, percent, points

_SAME_N = 0.05
"""Pairs by which an effective n differs from n before it is worth a word."""


def difference_text(verdict: Verdict) -> str:
    """Format a difference with its interval: `-9.4 pp [-13.8, -5.1]`."""
    if verdict.difference is None:
        return UNKNOWN
    low, high = (points(end).removesuffix(" pp") for end in (verdict.low, verdict.high))
    return f"{points(verdict.difference)} [{low}, {high}]"


def interval_text(verdict: Verdict) -> str:
    """Format the interval of a difference: `-13.8 to -5.1`."""
    return ends_text(verdict.low, verdict.high)


def ends_text(low: float | None, high: float | None) -> str:
    """Format the ends of an interval in percentage points: `-13.8 to -5.1`."""
    return " to ".join(points(end).removesuffix(" pp") for end in (low, high))


def rates_text(verdict: Verdict) -> str:
    """Format both pass rates: `52.5 → 43.1 %`."""
    if verdict.baseline_rate is None:
        return UNKNOWN
    return f"{percent(verdict.baseline_rate).removesuffix(' %')} → {percent(verdict.candidate_rate)}"


def flips_text(verdict: Verdict) -> str:
    """Format losses and gains: `-18 +3`."""
    return f"-{verdict.losses} +{verdict.gains}"


def detectable_text(verdict: Verdict) -> str:
    """Format the smallest drop that a slice's cases could have shown: `13.8 pp`; `none`, where none could show."""
    if not verdict.n:
        return UNKNOWN
    return "none" if verdict.smallest_detectable is None else points(verdict.smallest_detectable).lstrip("+")


def more_text(verdict: Verdict) -> str:
    """Format how many more cases would settle a slice: `+1,386`; empty where it is settled or more do not help."""
    return "" if verdict.cases_more is None else f"+{verdict.cases_more:,}"


def excess_text(verdict: Verdict) -> str:
    """Format excess churn with its interval: `+6.9 pp [-1.1, +14.9]`."""
    excess = verdict.excess_churn
    if excess is None:
        return UNKNOWN
    low, high = (points(end).removesuffix(" pp") for end in (excess.low, excess.high))
    return f"{points(excess.estimate)} [{low}, {high}]"


def flip_rate(verdict: Verdict) -> float | None:
    """Return how often a run of one variant disagrees with one of the other; of cases that ran once, changed pairs."""
    excess = verdict.excess_churn
    return share(verdict.losses + verdict.gains, verdict.n) if excess is None else excess.flip_rate


def self_text(flips: SelfFlips | None) -> str:
    """Format how often a variant disagreed with itself: `2 of 48`."""
    return UNKNOWN if flips is None else f"{flips.flips} of {flips.n}"


def own_text(flips: SelfFlips | None) -> str:
    """Say how a variant differs from itself: `rate 4.2 % (1 of 24 flipped in 2 runs), 3 texts changed, 3 diverged`."""
    if flips is None:
        return "no case ran again"
    flipped = f"rate {percent(flips.rate)} ({flips.flips} of {flips.n} flipped in {flips.runs} runs)"
    return f"{flipped}, {flips.changed_texts} texts changed, {flips.divergences} diverged"


def stratum_text(stratum: Stratum) -> str:
    """Format a part of the cases that ran again: `21 cases, lost 9, won 0`."""
    return f"{stratum.n} cases, lost {stratum.losses}, won {stratum.gains}"


def effective_text(verdict: Verdict) -> str:
    """Format the independent pairs that a slice's are worth: `14.6`; empty where that is all of them."""
    effective = verdict.effective_n
    return "" if effective is None or abs(effective - verdict.n) < _SAME_N else f"{effective:,.1f}"


def share(count: int, n: int) -> float | None:
    """Return count / n, None where n is 0."""
    return count / n if n else None
