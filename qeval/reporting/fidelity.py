"""The figures of fidelity as text, and what each report shows of them: no bound is written as if it were exact."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from qeval.compare.fidelity_result import (
    CandidateFidelity,
    Divergence,
    FidelityKind,
    FidelityPart,
    PartName,
    SelfFidelity,
    SliceFidelity,
)
from qeval.compare.report import Report
from qeval.jsonl import dumps
from qeval.reporting.visible import one_line
from qeval.units import UNKNOWN, nats, percent

_TOKEN_LIMIT = 40
"""Characters of one token."""
PART_WORDS: dict[PartName, str] = {
    "token_class": "Class of token",
    "position": "Position in the answer",
    "prompt_tokens": "Tokens of the prompt",
}
BOUND = "≥ and ≤: only the likeliest tokens are known, so these are bounds: divergence is at least this much"

REVERSE = "reverse KL is KL(candidate || baseline): large where the candidate likes what the baseline does not"


class Row(NamedTuple):
    """One slice of one candidate."""

    at: SliceFidelity
    kind: FidelityKind
    width: float
    """Of its bar, percent: mean KL on one scale for all candidates."""
    noise_width: float


class Panel(NamedTuple):
    """One candidate's fidelity."""

    candidate: str
    result: CandidateFidelity
    rows: list[Row]
    parts: list[tuple[str, list[FidelityPart]]]
    """By label of the slice, the pool first."""


def panels(report: Report) -> list[Panel]:
    """Return what was measured, by candidate; empty where nothing was."""
    found = [(c.candidate, c.fidelity) for c in report.candidates if c.fidelity is not None and c.fidelity.slices]
    most = max((s.statistics.kld_mean for _, f in found for s in f.slices if s.statistics), default=0.0)
    return [Panel(name, result, _rows(result, most), _parts(result)) for name, result in found]


def _rows(result: CandidateFidelity, most: float) -> list[Row]:
    rows = []
    for at in result.slices:
        mean = None if at.statistics is None else at.statistics.kld_mean
        rows.append(Row(at, result.kind, _width(mean, most), _width(at.noise, most)))
    return rows


def _width(value: float | None, most: float) -> float:
    return round(100 * min(1.0, max(0.0, value / most)), 3) if value is not None and most > 0 else 0.0


def _parts(result: CandidateFidelity) -> list[tuple[str, list[FidelityPart]]]:
    labels = dict.fromkeys(part.slice.label for part in result.parts)
    return [(label, [part for part in result.parts if part.slice.label == label]) for label in labels]


def by_name(parts: Iterable[FidelityPart]) -> list[tuple[str, list[FidelityPart]]]:
    """Group the parts of a slice by what they are cut by, with its words."""
    listed = list(parts)
    return [(words, [part for part in listed if part.by == by]) for by, words in PART_WORDS.items()]


def kl_text(value: float | None, kind: FidelityKind) -> str:
    """Format a KL divergence: `0.147`, or `≥0.107` where it is a lower bound."""
    return nats(value) if kind == "exact" or value is None else f"≥{nats(value)}"


def mean_text(of: SliceFidelity | FidelityPart, kind: FidelityKind) -> str:
    """Format a mean KL with half the width of its interval: `0.147 ±0.012`."""
    figures = of.statistics if isinstance(of, SliceFidelity) else of
    if figures is None:
        return UNKNOWN
    return _mean_and_half(figures.kld_mean, figures.kld_high, kind)


def _mean_and_half(mean: float, high: float | None, kind: FidelityKind) -> str:
    text = kl_text(mean, kind)
    return text if high is None else f"{text} ±{high - mean:.2g}"


def reverse_mean_text(at: SliceFidelity, kind: FidelityKind) -> str:
    """Format the mean of KL(candidate || baseline) with half the width of its interval: `0.152 ±0.012`."""
    if at.statistics is None or at.statistics.reverse_kld_mean is None:
        return UNKNOWN
    return _mean_and_half(at.statistics.reverse_kld_mean, at.statistics.reverse_kld_high, kind)


def reverse_p99_text(at: SliceFidelity, kind: FidelityKind) -> str:
    """Format the 99th percentile of KL(candidate || baseline)."""
    return kl_text(None if at.statistics is None else at.statistics.reverse_kld_p99, kind)


def reverse_shown(rows: Iterable[Row]) -> bool:
    """Return whether KL(candidate || baseline) was measured in any of them."""
    return any(row.at.statistics is not None and row.at.statistics.reverse_kld_mean is not None for row in rows)


def p99_text(at: SliceFidelity, kind: FidelityKind) -> str:
    """Format the 99th percentile of KL."""
    return kl_text(None if at.statistics is None else at.statistics.kld_p99, kind)


def same_text(at: SliceFidelity) -> str:
    """Format the share of positions with the same likeliest token: `94.2 %`."""
    return percent(None if at.statistics is None else at.statistics.same_top_p)


def ends_text(low: float | None, high: float | None) -> str:
    """Format the ends of a share's interval: `91.0 to 96.3 %`."""
    return UNKNOWN if low is None or high is None else f"{100 * low:.1f} to {percent(high)}"


def acceptance_text(at: SliceFidelity, kind: FidelityKind) -> str:
    """Format the expected acceptance: `96.1 %`, `≤97.0 %` where total variation is a lower bound."""
    if at.statistics is None:
        return UNKNOWN
    return f"{'' if kind == 'exact' else '≤'}{percent(at.statistics.expected_acceptance)}"


def rms_text(at: SliceFidelity) -> str:
    """Format the root mean square of the change of the answer's tokens' probabilities: `7.2 %`."""
    return percent(None if at.statistics is None else at.statistics.dp_rms)


def ratio_text(at: SliceFidelity) -> str:
    """Format the log of the ratio of perplexities: `+0.024 ±0.006`."""
    if at.statistics is None:
        return UNKNOWN
    text = f"{at.statistics.ln_ppl_ratio:+.3g}"
    high = at.statistics.ln_ppl_ratio_high
    return text if high is None else f"{text} ±{high - at.statistics.ln_ppl_ratio:.2g}"


def near_ties_text(at: SliceFidelity) -> str:
    """Format the near-ties among the flipped cases: `3/21`, `n/a/21` where the noise is not known."""
    return f"{UNKNOWN if at.near_ties is None else at.near_ties}/{at.flipped}"


def own_text(own: SelfFidelity | None, kind: FidelityKind) -> str:
    """Say how far a variant lies from itself, with the positions that were scored again: `0.0024 (n 128)`."""
    return UNKNOWN if own is None else f"{kl_text(own.kld_mean, kind)} (n {own.n_tokens:,})"


def times_text(at: SliceFidelity) -> str:
    """Format the multiple of the noise floor: `61×`."""
    return UNKNOWN if at.over_noise is None else f"{at.over_noise:,.3g}×"


def noise_words(at: SliceFidelity, kind: FidelityKind) -> str:
    """Say what a slice's mean KL is beside the noise floor."""
    if kind != "exact":
        return "a lower bound is no multiple of the noise floor"
    if at.baseline_self is None and at.candidate_self is None:
        return "no case was scored again, so that the noise floor is not known"
    if at.over_noise is None:
        if at.noise == 0:
            return "what was scored again in other batches came out the same, so that any distance is the format's"
        return "the noise floor is not known well enough to compare with"
    if at.over_noise <= 1:
        return "no farther from the baseline than a variant lies from itself when only the batching changes"
    return f"{at.over_noise:,.3g} times as far as a variant lies from itself when only the batching changes"


def gap_words(result: CandidateFidelity) -> str:
    """Say which divergences count as near-ties."""
    if result.gap_noise is None:
        return "too few positions were scored again to tell near-ties from others"
    return (
        f"near-tie: the case first diverges where the baseline's gap is at most {nats(result.gap_noise)} nats, "
        f"the 99th percentile of what noise moves a gap by (n {result.gap_noise_n:,})"
    )


def storage_words(result: CandidateFidelity) -> str:
    """Say how exactly the baseline's distributions were stored; empty where that is not known."""
    if result.reconstruction_kl is None:
        return ""
    return f"the baseline's distributions are stored to within {nats(result.reconstruction_kl)} nats at any position"


def token_text(token: str) -> str:
    r"""Quote a token on one line, blanks and newlines visible.

    >>> token_text(" May"), token_text("\n")
    ('" May"', '"\\n"')
    """
    return one_line(dumps(token), _TOKEN_LIMIT)


def divergence_text(divergence: Divergence) -> str:
    """Say where a case first diverges: `token 7: " March" → " May", gap 0.021, near-tie`."""
    pair = f"{token_text(divergence.baseline_token)} → {token_text(divergence.candidate_token)}"
    near = ", near-tie" if divergence.near_tie else ""
    return f"token {divergence.position:,}: {pair}, gap {nats(divergence.gap)}{near}"


def bounds_shown(shown: Sequence[Panel]) -> bool:
    """Return whether any of them holds bounds, which a legend then explains."""
    return any(panel.result.kind != "exact" for panel in shown)
