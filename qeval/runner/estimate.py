"""`--dry-run`: what a plan will roughly take in time and memory, without loading a model.

A rough estimate from counts, for choosing a size before the night, not a measurement: prompt tokens from the
length of the text, work from the number of weights, speed from a figure typical of the device. The basis is
printed with it.
"""

from __future__ import annotations

from collections.abc import Mapping

from rich.console import Console
from rich.table import Table

from qeval import units
from qeval.models.headers import tensor_headers
from qeval.models.locate import resolve
from qeval.models.resolved import ResolvedModel
from qeval.runner.plan import Plan, PlannedVariant
from qeval.strict import Strict
from qeval.variants.base import find_format

_CHARACTERS_PER_TOKEN = 3.5
_ANSWER_SHARE = 0.6
"""Answers mostly end before their limit."""
_FLOPS_PER_S = {"cpu": 2.5e10, "cuda": 5e13, "mps": 2e12}
"""Useful work of one CPU core, of a data-centre GPU, of a laptop GPU, in small batches."""
_LOAD_S = 15.0
_EARLY = " A candidate may end early."


class VariantEstimate(Strict):
    """One variant's share of the estimate."""

    name: str
    nominal_bits: float
    weight_bytes: int | None
    """Unknown until the model is on this machine."""
    seconds: float | None


class Estimate(Strict):
    """What a plan will roughly take."""

    cases: int
    answers: int
    """First runs and repeats of one variant."""
    prompt_tokens: int
    answer_tokens: int
    parameters: int | None
    """Of the baseline's model."""
    variants: tuple[VariantEstimate, ...]
    seconds: float | None
    basis: str


def estimate_plan(plan: Plan, again: Mapping[str, int]) -> Estimate:
    """Estimate a plan in which so many cases of each suite run again; unknown figures are None, never a number."""
    cases = [case for suite in plan.suites for case in suite.cases]
    repeated = plan.file.samples + plan.passes_again * sum(again.values()) / max(1, len(cases))
    characters = sum(len(message.content) for case in cases for message in case.messages)
    prompt_tokens = round(repeated * characters / _CHARACTERS_PER_TOKEN)
    answer_tokens = round(repeated * _ANSWER_SHARE * sum(case.max_new_tokens for case in cases))
    parameters = {} if plan.file.engine == "scripted" else _parameters(plan)
    speed = _FLOPS_PER_S[plan.device] * (plan.threads if plan.device == "cpu" else 1)
    variants = tuple(
        _estimate_variant(variant, parameters.get(variant.model), (prompt_tokens + answer_tokens) / speed)
        for variant in plan.variants
    )
    known = [variant.seconds for variant in variants if variant.seconds is not None]
    return Estimate(
        cases=len(cases),
        answers=round(repeated * len(cases)),
        prompt_tokens=prompt_tokens,
        answer_tokens=answer_tokens,
        parameters=parameters.get(plan.baseline.model),
        variants=variants,
        seconds=sum(known) if len(known) == len(variants) else None,
        basis=(
            f"2 operations a weight and token, {speed:.2g} a second on {plan.device}; "
            "a format without fast kernels may be several times slower"
        ),
    )


def _parameters(plan: Plan) -> dict[str, int | None]:
    """Return the number of weights of each model of a plan."""
    code, pickle = plan.file.allow_remote_code, plan.file.allow_pickle
    names = sorted({variant.model for variant in plan.variants})
    return {name: count_parameters(resolve(name, allow_remote_code=code, allow_pickle=pickle)) for name in names}


def _estimate_variant(variant: PlannedVariant, parameters: int | None, tokens_by_speed: float) -> VariantEstimate:
    """Estimate one variant; `tokens_by_speed` are tokens divided by operations a second."""
    bits = find_format(variant.spec.format).nominal_bits
    if parameters is None:
        return VariantEstimate(name=variant.name, nominal_bits=bits, weight_bytes=None, seconds=None)
    return VariantEstimate(
        name=variant.name,
        nominal_bits=bits,
        weight_bytes=round(parameters * bits / 8),
        seconds=_LOAD_S + 2 * parameters * tokens_by_speed,
    )


def count_parameters(model: ResolvedModel) -> int | None:
    """Count weights from the headers of safetensors files, without reading the weights; None where unknown."""
    return sum(header.elements for header in tensor_headers(model.path).values()) or None


def print_estimate(plan: Plan, estimate: Estimate, console: Console) -> None:
    """Print a plan with its estimate."""
    table = Table("variant", "role", "weights", "time", title="plan (estimates, nothing was run)")
    for planned, variant in zip(plan.variants, estimate.variants, strict=True):
        role = "baseline" if planned is plan.baseline else "candidate"
        table.add_row(variant.name, role, units.size(variant.weight_bytes), units.duration(variant.seconds))
    console.print(table)
    for suite in plan.suites:
        console.print(f"{suite.name}: {len(suite.cases)} cases ({suite.size})", markup=False, highlight=False)
    console.print(
        f"{estimate.answers} answers a variant, about {estimate.prompt_tokens} prompt and {estimate.answer_tokens} "
        f"answer tokens; {units.duration(estimate.seconds)} in all on {plan.device} with {plan.threads} threads.\n"
        f"Basis: {estimate.basis}.{_EARLY if plan.stop_on else ''}",
        markup=False,
        highlight=False,
    )
