"""Why a slice is judged as it is, in a sentence that says what would settle it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from qeval.compare.counts import Counts
from qeval.compare.figures import Figures
from qeval.compare.plan import Planned
from qeval.compare.report import Ruling
from qeval.units import p_value, percent, points

_DOUBTS = {
    "too_few": "under 30 cases are too few to judge",
    "few_clusters": "fewer than 10 clusters (documents, templates, translation sources) say nothing of their spread",
    "unanswered_decides": "the cases without an answer decide: counted as wrong, they change the ruling",
    "baseline_floor": "the baseline passes under 20 % here, so few pairs could show a loss",
}
"""What stands between a slice and a ruling, in the order in which it is named."""


class Doubts(NamedTuple):
    """What a reason is made from."""

    plan: Planned
    counts: Counts
    figures: Figures | None
    p_harm: float | None
    """Adjusted, as the other."""
    p_gain: float | None
    floor: float | None
    """The noise floor as a flip rate, where known."""
    flags: Sequence[str]
    needed: int | None


def reason(seen: Doubts, ruling: Ruling) -> str:
    """Say what the interval shows, or what is missing."""
    counts, found = seen.counts, seen.figures
    if found is None or counts.difference is None:
        return f"no data: 0 of {counts.planned} cases scored"
    margin = points(seen.plan.margin).lstrip("+")
    seen_as = f"difference {points(counts.difference)}, interval {points(found.low)} to {points(found.high)}"
    if ruling == "regressed":
        proof = f"a loss is proven (adjusted p {p_value(seen.p_harm)})"
        return f"{proof}, and one beyond {margin} is not excluded: {seen_as}"
    if ruling != "inconclusive":
        gain = f", and a gain is proven (adjusted p {p_value(seen.p_gain)})" if ruling == "improved" else ""
        return f"a loss beyond {margin} is excluded{gain}: {seen_as}"
    return f"{_doubt(seen, margin)}: {seen_as}{_what_settles(seen)}"


def _doubt(seen: Doubts, margin: str) -> str:
    for flag, text in _DOUBTS.items():
        if flag in seen.flags and (flag != "too_few" or not seen.plan.named):
            return text
    if "ended_early" in seen.flags:
        return "the run was ended early, before this slice was settled"
    if "margin_in_noise" in seen.flags and seen.floor is not None:
        return (
            f"a margin of {margin} lies inside the noise: a variant flips {percent(seen.floor)} of the cases against "
            "itself when only the batches change; run more cases, or steady it (compute=fp32, --head fp32)"
        )
    return f"a loss beyond {margin} is not excluded, nor is a loss proven"


def _what_settles(seen: Doubts) -> str:
    if seen.needed:
        return f"; needs about {seen.needed} cases, has {seen.counts.n}"
    if any(flag in seen.flags for flag in (*_DOUBTS, "ended_early", "margin_in_noise")):
        return ""
    return "; this many cases suffice if nothing is wrong, so a true loss may lie near the margin"
