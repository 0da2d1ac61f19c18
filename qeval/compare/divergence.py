"""Where a candidate first prefers another token than the baseline, and whether that was nearly a tie."""

from __future__ import annotations

from qeval.compare.fidelity_noise import GapNoise
from qeval.compare.fidelity_result import Divergence
from qeval.scored import ScoredAnswer


def first_divergence(scored: ScoredAnswer, noise: GapNoise) -> Divergence | None:
    """Return the first position whose likeliest tokens differ, None where none does.

    A *near-tie*: the baseline's gap there lies inside the noise, so that another batch might have turned it as well.
    """
    pairs = enumerate(zip(scored.reference_top, scored.top, strict=True))
    at = next((i for i, (ours, theirs) in pairs if ours != theirs), None)
    if at is None:
        return None
    ours, theirs = scored.divergence or ("", "")
    gap = scored.gap[at]
    near = None if noise.reach is None else gap <= noise.reach
    return Divergence(position=at + 1, baseline_token=ours, candidate_token=theirs, gap=gap, near_tie=near)
