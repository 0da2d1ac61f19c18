"""Fidelity of one candidate: what its record scored along the baseline's answers, by slice, beside the noise floor."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from qeval.compare.divergence import first_divergence
from qeval.compare.fidelity_noise import GapNoise, again, against_itself, gap_noise, noise_floor
from qeval.compare.fidelity_parts import parts
from qeval.compare.fidelity_result import CandidateFidelity, Divergence, FidelityKind, FidelityPart, SliceFidelity
from qeval.compare.fidelity_statistics import describe
from qeval.compare.pairs import CaseKey, Pair
from qeval.compare.plan import Planned
from qeval.compare.scored_cases import ScoredCase, first_scorings, once_scored, tally
from qeval.record import FidelityInfo, Record, RecordHeader
from qeval.scored import ScoredAnswer


class Scorings(NamedTuple):
    """What two records scored, over the pairs of their comparison."""

    kind: FidelityKind
    pairs: Sequence[Pair]
    cases: Mapping[CaseKey, ScoredCase]
    """Those with positions."""
    failed: Mapping[CaseKey, str]
    """The class of the fault of the others."""
    ours: Sequence[ScoredAnswer]
    """The baseline against itself; none where it is of another kind than the candidate's."""
    theirs: Sequence[ScoredAnswer]
    """The candidate against itself."""
    noise: GapNoise
    divergences: Mapping[CaseKey, Divergence]


def unreadable(ours: RecordHeader, theirs: RecordHeader) -> str | None:
    """Return why a candidate's scores do not tell of this baseline, None where they do."""
    if theirs.fidelity is None:
        return "fidelity was not measured"
    if ours.fidelity is None:
        return "the baseline's record does not say which answers were scored, so fidelity is not shown"
    one, other = ours.fidelity.reference, theirs.fidelity.reference
    if one != other:
        return (
            f"fidelity is of other answers than the baseline's (digest {other[:12]}, not {one[:12]}) and is not shown"
        )
    return None


def scorings(baseline: Record, candidate: Record, pairs: Sequence[Pair]) -> Scorings:
    """Collect what was scored of some pairs; the records must be of the same answers, see `unreadable`.

    Raises:
        UsageError: a record holds an answer twice, or mixes exact values and lower bounds.
    """
    found = first_scorings(candidate)
    by_key = {pair.member.key: pair for pair in pairs}
    members = [pair.member for pair in pairs]
    kept = {key: (pair, found[key]) for key, pair in by_key.items() if key in found}
    kind: FidelityKind = next((one.kind for _, one in kept.values() if one.kl), "exact")
    ours, theirs = ([one for one in again(r) if one.kind == kind] for r in (baseline, candidate))
    noise = gap_noise(against_itself(ours, members), against_itself(theirs, members))
    diverging = {key: first_divergence(one, noise) for key, (_, one) in kept.items()}
    return Scorings(
        kind=kind,
        pairs=pairs,
        cases={key: _case(pair, one) for key, (pair, one) in kept.items() if one.kl},
        failed={key: one.fault for key, (_, one) in kept.items() if one.fault is not None},
        ours=ours,
        theirs=theirs,
        noise=noise,
        divergences={key: divergence for key, divergence in diverging.items() if divergence is not None},
    )


def _case(pair: Pair, scored: ScoredAnswer) -> ScoredCase:
    outcomes = (pair.baseline.outcome, pair.candidate.outcome)
    lengths = [outcome.prompt_tokens for outcome in outcomes if outcome and outcome.prompt_tokens is not None]
    return ScoredCase(pair.member, lengths[0] if lengths else None, scored, tally(scored))


def summarise(
    found: Scorings, planned: Sequence[Planned], info: FidelityInfo | None, alpha: float
) -> CandidateFidelity:
    """Sum up a candidate's scores: the pool, the suites and the required slices, and parts of the former two.

    Args:
        found: what was scored.
        planned: slices over the pairs.
        info: what the baseline's record says of its answers.
        alpha: level of each end of the intervals.
    """
    gating = [plan for plan in planned if plan.role != "exploratory"]
    return CandidateFidelity(
        kind=found.kind,
        reference=info.reference if info else "",
        reconstruction_kl=info and info.reconstruction_kl,
        confidence=1 - 2 * alpha,
        gap_noise=found.noise.reach,
        gap_noise_n=found.noise.n,
        slices=tuple(_slices(found, gating, alpha)),
        parts=tuple(part for plan in gating if plan.role != "required" for part in _parts(found, plan, alpha)),
    )


def _slices(found: Scorings, planned: Iterable[Planned], alpha: float) -> Iterable[SliceFidelity]:
    for plan in planned:
        keys = _keys(found, plan)
        if any(key in found.cases or key in found.failed for key in keys):
            yield _slice(found, plan, keys, alpha)


def _keys(found: Scorings, plan: Planned) -> list[CaseKey]:
    return [found.pairs[i].member.key for i in plan.at]


def _slice(found: Scorings, plan: Planned, keys: Sequence[CaseKey], alpha: float) -> SliceFidelity:
    inside = set(keys)
    statistics = describe(once_scored(found.cases[key] for key in keys if key in found.cases), alpha)
    members = [found.pairs[i].member for i in plan.at]
    ours, theirs = against_itself(found.ours, members), against_itself(found.theirs, members)
    floor = noise_floor(ours, theirs) if found.kind == "exact" else None
    flipped = [found.divergences.get(key) for key in _flipped(found, plan) if key in found.cases]
    return SliceFidelity(
        slice=plan.key,
        role=plan.role,
        statistics=statistics,
        faults=dict(sorted(Counter(found.failed[key] for key in keys if key in found.failed).items())),
        unscored=sum(key not in found.cases and key not in found.failed for key in keys),
        baseline_self=ours,
        candidate_self=theirs,
        over_noise=statistics.kld_mean / floor if statistics and floor else None,
        diverged=len(inside & found.divergences.keys()),
        flipped=len(flipped),
        near_ties=None if found.noise.reach is None else sum(bool(one and one.near_tie) for one in flipped),
    )


def _flipped(found: Scorings, plan: Planned) -> Iterable[CaseKey]:
    for pair in (found.pairs[i] for i in plan.at):
        before, after = pair.baseline.passed("pass"), pair.candidate.passed("pass")
        if before is not None and after is not None and before != after:
            yield pair.info.suite, pair.info.case


def _parts(found: Scorings, plan: Planned, alpha: float) -> Iterable[FidelityPart]:
    cases = once_scored(found.cases[key] for key in _keys(found, plan) if key in found.cases)
    return parts(plan.key, cases, alpha)
