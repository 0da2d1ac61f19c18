"""The policy's bounds on fidelity: mean KL against multiples of the noise floor, or against a number of nats."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from qeval.compare.fidelity import Scorings
from qeval.compare.fidelity_noise import against_itself, noise_floor
from qeval.compare.policy import FidelityBounds
from qeval.compare.report import LimitResult, SliceKey
from qeval.compare.scored_cases import ScoredCase, once_scored
from qeval.compare.slices import belongs, parse_slice
from qeval.units import nats


class Bounded(NamedTuple):
    """The outcome of all bounds on fidelity for one candidate."""

    results: tuple[LimitResult, ...]
    unchecked: tuple[str, ...]
    """Bounds that could not be checked, each with the reason and what to do."""


def check_fidelity(bounds: FidelityBounds, found: Scorings | None, missing: str | None) -> Bounded:
    """Check every bound.

    Args:
        bounds: the policy's.
        found: what was scored; None where there is nothing to read.
        missing: why not.
    """
    results, unchecked = [], []
    for key in _named(bounds):
        checked = missing or "no scores" if found is None else _check(bounds, key, found)
        if isinstance(checked, LimitResult):
            results.append(checked)
        else:
            unchecked.append(f"bound on fidelity in {key.label} not checked: {checked}")
    return Bounded(tuple(results), tuple(unchecked))


def _named(bounds: FidelityBounds) -> Iterable[SliceKey]:
    names = {**(bounds.max_kl_over_noise or {}), **(bounds.max_kl or {})}
    return dict.fromkeys(parse_slice(name) for name in names)


def _check(bounds: FidelityBounds, key: SliceKey, found: Scorings) -> LimitResult | str:
    """Return the result, or why there is none."""
    inside = [case for case in found.cases.values() if belongs(key, case.member.info.suite, case.member.info.tags)]
    cases = once_scored(inside)
    if not cases:
        return "no case of it was scored"
    if found.kind != "exact":
        return "only a lower bound of KL is known"
    mean = math.fsum(case.tally.kl for case in cases) / sum(case.tally.tokens for case in cases)
    multiple, most = _written(bounds.max_kl_over_noise, key), _written(bounds.max_kl, key)
    floor = None if multiple is None else _floor(inside, found)
    allowed = max([*([multiple * floor] if multiple and floor else []), *([most] if most else [])], default=None)
    if allowed is None:
        why = "is not known" if floor is None else "is zero"
        return f"the noise floor {why}, so that KL is no multiple of it; give max_kl in nats beside max_kl_over_noise"
    said = [f"max_kl_over_noise {multiple:g}"] if multiple else []
    said += [f"max_kl {most:g}"] if most else []
    beside = "" if floor is None else f", noise floor {nats(floor)}"
    text = f"mean KL {nats(mean)} nats{beside}, allowed {nats(allowed)} ({', '.join(said)})"
    return LimitResult(name=_name(bounds), slice=key, level=bounds.level, broken=mean > allowed, text=text)


def _name(bounds: FidelityBounds) -> str:
    return "max_kl_over_noise" if bounds.max_kl_over_noise else "max_kl"


def _written(thresholds: dict[str, float] | None, key: SliceKey) -> float | None:
    return next((value for name, value in (thresholds or {}).items() if parse_slice(name) == key), None)


def _floor(cases: Sequence[ScoredCase], found: Scorings) -> float | None:
    members = [case.member for case in cases]
    return noise_floor(against_itself(found.ours, members), against_itself(found.theirs, members))
