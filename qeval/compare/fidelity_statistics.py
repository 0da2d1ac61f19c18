"""The statistics of a slice's positions; definitions as llama.cpp's, intervals clustered (docs/method.md, Fidelity)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from qeval.compare.clustered_means import FEWEST_FOR_PERCENTILES, clustered_mean, clustered_share, percentile
from qeval.compare.correlation import correlation
from qeval.compare.fidelity_result import Fidelity
from qeval.compare.scored_cases import ScoredCase, by_cluster, cluster_sizes, dp_values, kl_values, reverse_kl_values

_FRACTIONS = {
    "p001": 0.001, "p01": 0.01, "p05": 0.05, "p10": 0.1, "p25": 0.25, "median": 0.5,
    "p75": 0.75, "p90": 0.9, "p95": 0.95, "p99": 0.99, "p999": 0.999,
}  # fmt: skip
_OF_KL = [name for name in _FRACTIONS if name not in {"p25", "p75"}]
"""llama.cpp prints its quartiles for probabilities alone."""
_LARGEST_EXPONENT = 700
"""e to the power of this is still a number."""


def describe(cases: Sequence[ScoredCase], alpha: float) -> Fidelity | None:
    """Describe the positions of some cases, None where there are none.

    Args:
        cases: each with one position at least.
        alpha: level of each end of the intervals.
    """
    if not cases:
        return None
    sizes = cluster_sizes(cases)
    same = clustered_share([int(hits) for hits in by_cluster(cases, lambda sums: sums.same_top)], sizes, alpha)
    apart = min(1.0, max(0.0, _mean(cases, "total_variation")))
    return Fidelity(
        n_cases=len(cases),
        n_tokens=sum(sizes),
        clusters=len(sizes),
        same_top_p=same.value,
        same_top_p_se=same.se,
        same_top_p_low=same.low,
        same_top_p_high=same.high,
        total_variation_mean=apart,
        expected_acceptance=1 - apart,
        entropy_mean=_mean(cases, "entropy"),
        **_divergence(cases, sizes, alpha),
        **_reverse_divergence(cases, sizes, alpha),
        **_probability(cases, sizes, alpha),
        **_perplexities(cases, sizes, alpha),
    )


def _mean(cases: Iterable[ScoredCase], name: str) -> float:
    tallies = [case.tally for case in cases]
    return math.fsum(getattr(sums, name) for sums in tallies) / sum(sums.tokens for sums in tallies)


def _divergence(cases: Sequence[ScoredCase], sizes: Sequence[int], alpha: float) -> dict[str, Any]:
    mean = clustered_mean(by_cluster(cases, lambda sums: sums.kl), sizes, alpha)
    ordered = kl_values(cases)
    return {
        "kld_mean": mean.value,
        "kld_se": mean.se,
        "kld_low": mean.low,
        "kld_high": mean.high,
        **{f"kld_{name}": _percentile(ordered, name) for name in _OF_KL},
        "kld_max": ordered[-1],
        "kld_min": ordered[0],
    }


def _reverse_divergence(cases: Sequence[ScoredCase], sizes: Sequence[int], alpha: float) -> dict[str, Any]:
    ordered = reverse_kl_values(cases)
    if ordered is None:
        return {}
    # Known of every case, since it is of every position.
    mean = clustered_mean(by_cluster(cases, lambda sums: sums.reverse_kl or 0.0), sizes, alpha)
    return {
        "reverse_kld_mean": mean.value,
        "reverse_kld_se": mean.se,
        "reverse_kld_low": mean.low,
        "reverse_kld_high": mean.high,
        "reverse_kld_p99": _percentile(ordered, "p99"),
    }


def _probability(cases: Sequence[ScoredCase], sizes: Sequence[int], alpha: float) -> dict[str, Any]:
    mean = clustered_mean(by_cluster(cases, lambda sums: sums.dp), sizes, alpha)
    square = clustered_mean(by_cluster(cases, lambda sums: sums.dp_squared), sizes, alpha)
    root = math.sqrt(square.value)
    ordered = dp_values(cases)
    return {
        "dp_mean": mean.value,
        "dp_se": mean.se,
        "dp_rms": root,
        "dp_rms_se": None if square.se is None or root == 0 else 0.5 / root * square.se,
        **{f"dp_{name}": _percentile(ordered, name) for name in _FRACTIONS},
        "dp_max": ordered[-1],
        "dp_min": ordered[0],
    }


def _perplexities(cases: Sequence[ScoredCase], sizes: Sequence[int], alpha: float) -> dict[str, Any]:
    # Of differences, so that what the two arms have in common cancels: var_q + var_base - 2 cov.
    ratio = clustered_mean(by_cluster(cases, lambda sums: sums.nll - sums.reference_nll), sizes, alpha)
    return {
        "ln_ppl_ratio": ratio.value,
        "ln_ppl_ratio_se": ratio.se,
        "ln_ppl_ratio_low": ratio.low,
        "ln_ppl_ratio_high": ratio.high,
        "ppl_base": _perplexity(_mean(cases, "reference_nll")),
        "ppl_q": _perplexity(_mean(cases, "nll")),
        "cor_ln_ppl": correlation(
            [value for case in cases for value in case.scored.logprob],
            [value for case in cases for value in case.scored.reference_logprob],
        ),
    }


def _percentile(ordered: Sequence[float], name: str) -> float | None:
    return percentile(ordered, _FRACTIONS[name]) if len(ordered) >= FEWEST_FOR_PERCENTILES else None


def _perplexity(nll: float) -> float | None:
    return math.exp(nll) if nll < _LARGEST_EXPONENT else None
