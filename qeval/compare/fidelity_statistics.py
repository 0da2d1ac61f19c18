"""The statistics of a slice's positions; definitions as llama.cpp's, intervals clustered (docs/method.md, Fidelity)."""

from __future__ import annotations

import math
from collections.abc import Sequence

from qeval.compare.clustered_means import FEWEST_FOR_PERCENTILES, clustered_mean, clustered_share, percentile
from qeval.compare.fidelity_result import Fidelity
from qeval.compare.scored_cases import ScoredCase, by_cluster, cluster_sizes, kl_values

_PERCENTILES = {"kld_median": 0.5, "kld_p90": 0.9, "kld_p95": 0.95, "kld_p99": 0.99, "kld_p999": 0.999}
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
    n = sum(sizes)

    def mean(name: str) -> float:
        return math.fsum(getattr(case.tally, name) for case in cases) / n

    kl = clustered_mean(by_cluster(cases, lambda sums: sums.kl), sizes, alpha)
    same = clustered_share([int(hits) for hits in by_cluster(cases, lambda sums: sums.same_top)], sizes, alpha)
    # Of differences, so that what the two arms have in common cancels: var_q + var_base - 2 cov.
    ratio = clustered_mean(by_cluster(cases, lambda sums: sums.nll - sums.reference_nll), sizes, alpha)
    ordered = kl_values(cases)
    at = {name: _percentile(ordered, fraction) for name, fraction in _PERCENTILES.items()}
    apart = min(1.0, max(0.0, mean("total_variation")))
    return Fidelity(
        n_cases=len(cases),
        n_tokens=n,
        clusters=len(sizes),
        kld_mean=kl.value,
        kld_se=kl.se,
        kld_low=kl.low,
        kld_high=kl.high,
        **at,
        kld_max=ordered[-1],
        kld_min=ordered[0],
        same_top_p=same.value,
        same_top_p_low=same.low,
        same_top_p_high=same.high,
        dp_mean=mean("dp"),
        dp_rms=math.sqrt(mean("dp_squared")),
        total_variation_mean=apart,
        expected_acceptance=1 - apart,
        ln_ppl_ratio=ratio.value,
        ln_ppl_ratio_se=ratio.se,
        ln_ppl_ratio_low=ratio.low,
        ln_ppl_ratio_high=ratio.high,
        ppl_base=_perplexity(mean("reference_nll")),
        ppl_q=_perplexity(mean("nll")),
        entropy_mean=mean("entropy"),
    )


def _percentile(ordered: Sequence[float], fraction: float) -> float | None:
    return percentile(ordered, fraction) if len(ordered) >= FEWEST_FOR_PERCENTILES else None


def _perplexity(nll: float) -> float | None:
    return math.exp(nll) if nll < _LARGEST_EXPONENT else None
