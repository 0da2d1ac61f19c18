"""Made fidelity for made reports."""

from __future__ import annotations

import re
from typing import Any

from qeval.compare.fidelity_result import (
    CandidateFidelity,
    Fidelity,
    FidelityPart,
    SelfFidelity,
    SliceFidelity,
)
from qeval.compare.report import (
    SliceKey,
)


def statistics(mean: float, **changes: Any) -> Fidelity:
    """Statistics that belong to a mean KL, as far as they follow from it."""
    fields: dict[str, Any] = {
        "n_cases": 32, "n_tokens": 1500, "clusters": 32,
        "kld_mean": mean, "kld_se": mean / 20, "kld_low": 0.915 * mean, "kld_high": 1.085 * mean,
        "kld_p001": 0.0, "kld_p01": 0.0, "kld_p05": mean / 5000, "kld_p10": mean / 1000,
        "kld_median": mean / 6, "kld_p90": 2.4 * mean, "kld_p95": 4.1 * mean, "kld_p99": 9.5 * mean,
        "kld_p999": 21 * mean, "kld_max": 30 * mean, "kld_min": 0.0,
        "same_top_p": 0.942, "same_top_p_se": 0.011, "same_top_p_low": 0.921, "same_top_p_high": 0.958,
        "dp_mean": -0.013, "dp_se": 0.002, "dp_rms": 0.072, "dp_rms_se": 0.004,
        "dp_max": 0.61, "dp_p999": 0.42, "dp_p99": 0.17, "dp_p95": 0.07, "dp_p90": 0.03, "dp_p75": 0.004,
        "dp_median": -0.0001, "dp_p25": -0.01, "dp_p10": -0.06, "dp_p05": -0.12, "dp_p01": -0.31, "dp_p001": -0.7,
        "dp_min": -0.9, "total_variation_mean": 0.081, "expected_acceptance": 0.919,
        "ln_ppl_ratio": mean / 4, "ln_ppl_ratio_se": mean / 30, "ln_ppl_ratio_low": 0.195 * mean,
        "ln_ppl_ratio_high": 0.305 * mean, "ppl_base": 1.31, "ppl_q": 1.36, "cor_ln_ppl": 0.93, "entropy_mean": 0.41,
    }  # fmt: skip
    return Fidelity(**(fields | changes))


UNKNOWN_OF_FEW = {
    name: None
    for name in Fidelity.model_fields
    if name.endswith(("_se", "_low", "_high", "_median")) or re.search(r"_p\d+$", name)
}
"""What fewer than 100 positions in one cluster do not tell."""


def slice_fidelity(suite: str | None, mean: float, **changes: Any) -> SliceFidelity:
    tag, value = changes.pop("tag", None), changes.pop("value", None)
    fields: dict[str, Any] = {
        "slice": SliceKey(suite=suite, tag=tag, value=value),
        "role": "suite" if suite else "pool",
        "statistics": statistics(mean),
        "baseline_self": SelfFidelity(n_cases=2, n_tokens=128, kld_mean=1.2e-11, same_top_p=1.0, shift_p99=4e-6),
        "candidate_self": SelfFidelity(n_cases=2, n_tokens=128, kld_mean=0.0024, same_top_p=0.969, shift_p99=0.043),
        "over_noise": mean / 0.0024,
        "diverged": 20,
        "flipped": 21,
        "near_ties": 3,
    }
    return SliceFidelity(**(fields | changes))


def fidelity_part(by: str, value: str, mean: float) -> FidelityPart:
    seen = statistics(mean).model_dump()
    names = FidelityPart.model_fields.keys() & seen.keys()
    return FidelityPart(slice=SliceKey(), by=by, value=value, **{name: seen[name] for name in names})


def fidelity(*slices: SliceFidelity, **changes: Any) -> CandidateFidelity:
    fields: dict[str, Any] = {
        "kind": "exact",
        "reference": "ef" * 32,
        "reconstruction_kl": 7e-4,
        "confidence": 0.9,
        "gap_noise": 0.043,
        "gap_noise_n": 1280,
        "slices": slices,
        "parts": (
            fidelity_part("token_class", "digit", 0.21),
            fidelity_part("token_class", "other", 0.14),
            fidelity_part("position", "1", 0.05),
            fidelity_part("position", "5-16", 0.17),
            fidelity_part("prompt_tokens", "257-1,024", 0.147),
        ),
    }
    return CandidateFidelity(**(fields | changes))
