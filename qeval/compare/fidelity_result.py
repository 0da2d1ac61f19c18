"""What a report says of fidelity: how far a candidate's token distributions lie from the baseline's.

Names are those that llama.cpp prints (tools/perplexity, `--kl-divergence`) where the definition is the same. Shares
are in [0, 1], probabilities in [-1, 1] where llama.cpp prints percent; logarithms are natural. Positions are those of
the baseline's own answers, so that `ppl_base` is not the perplexity of a text.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from qeval.compare.slice_key import Role, Share, SliceKey
from qeval.strict import Strict
from qeval.text_kinds import ModelText, Own

FidelityKind = Literal["exact", "top_k_bound"]
"""Over the whole vocabulary; or a lower bound of KL and total variation, from the likeliest tokens."""
PartName = Literal["token_class", "position", "prompt_tokens"]


class PositionFigures(Strict):
    """What is said of any set of positions; ends of intervals are at 1 - 2 alpha, clustered."""

    n_cases: int
    n_tokens: int
    """Positions, all of them scored by both."""
    clusters: int
    kld_mean: float
    """KL(baseline || candidate), nats."""
    kld_se: float | None
    """As all standard errors, None with fewer than two clusters."""
    kld_low: float | None
    kld_high: float | None
    kld_p99: float | None
    """As all percentiles, None with fewer than 100 positions."""
    same_top_p: Share
    """Positions at which both prefer the same token."""
    same_top_p_se: float | None
    same_top_p_low: Share | None
    same_top_p_high: Share | None


class Fidelity(PositionFigures):
    """Statistics over all positions of a slice."""

    kld_p001: float | None
    """The 0.1 % percentile, as p999 is the 99.9 %."""
    kld_p01: float | None
    kld_p05: float | None
    kld_p10: float | None
    kld_median: float | None
    kld_p90: float | None
    kld_p95: float | None
    kld_p999: float | None
    kld_max: float
    kld_min: float
    reverse_kld_mean: float | None = None
    """KL(candidate || baseline), nats; as the next four, None where it was not asked for."""
    reverse_kld_se: float | None = None
    reverse_kld_low: float | None = None
    reverse_kld_high: float | None = None
    reverse_kld_p99: float | None = None
    dp_mean: float
    """Probability of the answer's token, the candidate's less the baseline's."""
    dp_se: float | None
    dp_rms: float
    """Root of its mean square."""
    dp_rms_se: float | None
    """None also where the root is 0."""
    dp_max: float
    dp_p999: float | None
    dp_p99: float | None
    dp_p95: float | None
    dp_p90: float | None
    dp_p75: float | None
    dp_median: float | None
    dp_p25: float | None
    dp_p10: float | None
    dp_p05: float | None
    dp_p01: float | None
    dp_p001: float | None
    dp_min: float
    total_variation_mean: Share
    expected_acceptance: Share
    """1 - total variation: how often the baseline would accept the candidate's token in speculative decoding."""
    ln_ppl_ratio: float
    """ln(ppl_q / ppl_base), the mean of ln p_base - ln p_q of the answer's tokens."""
    ln_ppl_ratio_se: float | None
    ln_ppl_ratio_low: float | None
    ln_ppl_ratio_high: float | None
    ppl_base: float | None
    """Of the baseline on its own answers; None where it is beyond any number."""
    ppl_q: float | None
    """Of the candidate on the same answers."""
    cor_ln_ppl: float | None
    """Pearson's correlation of -ln p_q and -ln p_base over positions, in [-1, 1]; None where either does not vary."""
    entropy_mean: float
    """Of the baseline, nats."""


class SelfFidelity(Strict):
    """How far a variant lies from itself when only the batching changes."""

    n_cases: int
    n_tokens: int
    kld_mean: float
    same_top_p: Share
    shift_p99: float | None
    """99th percentile of how far the gap between the two likeliest tokens moves, nats; None under 20 positions."""


class SliceFidelity(Strict):
    """Fidelity of the cases of a slice."""

    slice: SliceKey
    role: Role
    statistics: Fidelity | None
    """None where no position was scored."""
    faults: dict[Own, int] = Field(default_factory=dict)
    """Cases whose scoring failed, by class; they are in no statistic."""
    unscored: int = 0
    """Cases that were not scored at all, such as those the baseline has no answer to."""
    baseline_self: SelfFidelity | None = None
    candidate_self: SelfFidelity | None = None
    over_noise: float | None = None
    """`kld_mean` over the larger of the two variants' own; None where neither is known from 20 positions, where that is
    0, and for lower bounds."""
    diverged: int = 0
    """Scored cases in which the candidate somewhere prefers another token."""
    flipped: int = 0
    """Scored cases whose pass is not the baseline's."""
    near_ties: int | None = None
    """Of these, those that first diverge where the baseline's gap lies inside the noise; None where the noise is not
    known."""

    @property
    def noise(self) -> float | None:
        """The larger of the two variants' own mean KL, nats; None where no case was scored again."""
        return max((own.kld_mean for own in (self.baseline_self, self.candidate_self) if own), default=None)


class FidelityPart(PositionFigures):
    """Fidelity of a part of a slice's positions."""

    slice: SliceKey
    by: PartName
    value: Own
    """Such as `digit`, `5-16`, `257-1,024`."""


class CandidateFidelity(Strict):
    """All of one candidate's fidelity. It screens and explains; near the baseline KL does not rank quality."""

    kind: FidelityKind
    reference: Own
    """Digest of the answers that were scored, as both records hold it."""
    reconstruction_kl: float | None = None
    """Largest KL at one position between the baseline's distribution and what was stored of it, nats: under this no
    distance can be told from the storage's."""
    confidence: Share
    """Of the intervals."""
    gap_noise: float | None
    """How far noise moves the gap between two tokens, nats: the larger of the two variants' 99th percentiles over all
    cases that were scored again; None where neither has 20 positions."""
    gap_noise_n: int
    """Positions behind it."""
    slices: tuple[SliceFidelity, ...]
    """The pool, the suites and the required slices."""
    parts: tuple[FidelityPart, ...]
    """The pool and each suite by class of token, position in the answer, and length of the prompt."""


class Divergence(Strict):
    """The first position of an answer at which the candidate prefers another token than the baseline."""

    position: int = Field(ge=1)
    """Counted from 1, along the baseline's answer."""
    baseline_token: ModelText
    candidate_token: ModelText
    gap: float
    """Log-probability of the baseline's likeliest token there less that of its second, nats."""
    near_tie: bool | None
    """Whether that gap lies inside the noise; None where the noise is not known."""
