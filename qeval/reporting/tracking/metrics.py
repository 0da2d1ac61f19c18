"""The figures of a run that become metrics, by names that `names.py` then makes legal."""

from __future__ import annotations

from qeval.compare.report import CandidateResult, Report, SliceKey, VariantSummary, Verdict
from qeval.compare.slices import belongs
from qeval.record import Record

BASELINE_ID = "BASELINE"
"""Stands in metric names for the first 8 characters of the baseline's run id, known once that run exists."""


def gating(result: CandidateResult | None) -> list[Verdict]:
    """Return the verdicts whose figures are headline metrics: all but the exploratory ones; none for the baseline."""
    return [verdict for verdict in result.verdicts if verdict.role != "exploratory"] if result else []


def costs(variant: VariantSummary) -> dict[str, float | None]:
    """Return what a variant costs, None where it was not measured."""
    proof, pilot = variant.proof, variant.pilot_times
    return {
        "cost/storage_bytes": None if proof is None else proof.storage_bytes,
        "cost/effective_bits": None if proof is None else proof.effective_bits,
        "cost/peak_memory_bytes": variant.peak_memory_bytes,
        "cost/tokens_per_s": variant.tokens_per_s,
        "cost/run_s": variant.run_s,
        "cost/load_s": variant.load_s,
        "cost/pilot_plain_s": pilot.plain_s if pilot else None,
        "cost/pilot_replay_s": pilot.follow_s + pilot.replay_s if pilot else None,
        "cases/total": variant.n_cases,
        "cases/answered": variant.n_answered,
    }


def quality(report: Report, variant: VariantSummary, record: Record | None) -> dict[str, float | None]:
    """Return the variant's own pass rates: of every suite, and of the slices that gate where there is a record."""
    counts = {SliceKey(suite=suite): count for suite, count in variant.suite_passed.items()}
    if record:
        keys = [verdict.slice for candidate in report.candidates for verdict in gating(candidate)]
        counts |= {key: _count(key, record) for key in dict.fromkeys(keys)}
    metrics: dict[str, float | None] = {}
    for key, (passed, graded) in counts.items():
        metrics[f"{_slice_path(key)}/pass_rate"] = passed / graded if graded else None
        metrics[f"{_slice_path(key)}/n"] = graded
    return metrics


def _count(key: SliceKey, record: Record) -> tuple[int, int]:
    tags = {(info.suite, info.case): info.tags for info in record.cases}
    inside = [o for (suite, case), o in record.by_case().items() if belongs(key, suite, tags.get((suite, case), {}))]
    passed = [outcome.passed() for outcome in inside]
    return passed.count(True), len(passed) - passed.count(None)


def _slice_path(key: SliceKey) -> str:
    # A colon is legal in a metric name and '=' is not; a slash in a value would be a folder.
    name = "all" if key.tag is None else f"{key.tag}:{key.value}".replace("/", "⁄")
    return f"quality/{key.suite or 'all'}/{name}"


def comparison(verdict: Verdict) -> dict[str, float | None]:
    """Return a verdict's figures, as far as they go under the names of MLflow's own comparison of evaluations."""
    scorer = "/".join([verdict.metric, *_slice_path(verdict.slice).split("/")[1:]])
    figures = {
        "diff": verdict.difference,
        "ci_low": verdict.low,
        "ci_high": verdict.high,
        "n_paired": verdict.n,
        "losses": verdict.losses,
        "gains": verdict.gains,
        "p_harm": verdict.p_harm_adjusted,
        **_settling(verdict),
        **(_noise(verdict) if verdict.role in {"pool", "suite"} else {}),
    }
    return {f"compare/{BASELINE_ID}/{scorer}/{name}": value for name, value in figures.items()}


def _settling(verdict: Verdict) -> dict[str, float | None]:
    shown = verdict.smallest_detectable
    # What is settled needs no cases: that is no figure, and not an unknown one either.
    needed = {} if verdict.cases_needed is None else {"cases_needed": verdict.cases_needed}
    return {"smallest_detectable_pp": None if shown is None else 100 * shown, **needed}


def _noise(verdict: Verdict) -> dict[str, float | None]:
    """Return the flip rate of both arms against themselves, and what the change made beyond."""
    ours, theirs, excess = verdict.baseline_self, verdict.candidate_self, verdict.excess_churn
    return {
        "baseline_flip_rate": None if ours is None else ours.rate,
        "candidate_flip_rate": None if theirs is None else theirs.rate,
        "excess_churn": None if excess is None else excess.estimate,
        "excess_churn_low": None if excess is None else excess.low,
        "excess_churn_high": None if excess is None else excess.high,
    }


def fidelity(result: CandidateResult | None) -> dict[str, float | None]:
    """Return the headline figures of fidelity, of the pool, the suites and the required slices; none for the baseline.

    Where only the likeliest tokens are known, the names say that the figures are lower bounds.
    """
    if result is None or result.fidelity is None:
        return {}
    suffix = "" if result.fidelity.kind == "exact" else "_lower_bound"
    metrics: dict[str, float | None] = {}
    for at in result.fidelity.slices:
        path = "/".join(["compare", BASELINE_ID, "fidelity", *_slice_path(at.slice).split("/")[1:]])
        seen = at.statistics
        metrics |= {
            f"{path}/kld_mean{suffix}": None if seen is None else seen.kld_mean,
            f"{path}/kld_p99{suffix}": None if seen is None else seen.kld_p99,
            f"{path}/same_top_p": None if seen is None else seen.same_top_p,
            f"{path}/kld_over_noise": at.over_noise,
            f"{path}/n_tokens": 0 if seen is None else seen.n_tokens,
        }
        if seen is not None and seen.reverse_kld_mean is not None:
            metrics |= {
                f"{path}/reverse_kld_mean{suffix}": seen.reverse_kld_mean,
                f"{path}/reverse_kld_p99{suffix}": seen.reverse_kld_p99,
            }
    return metrics
