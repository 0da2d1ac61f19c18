"""Fidelity as a screen beside the verdicts: what is shown of a candidate, and what the policy's bounds say of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from qeval.compare.fidelity import Scorings, scorings, summarise, unreadable
from qeval.compare.fidelity_limits import check_fidelity
from qeval.compare.fidelity_result import CandidateFidelity, Divergence
from qeval.compare.pairs import CaseKey, Pair
from qeval.compare.plan import Planned
from qeval.compare.policy import Policy
from qeval.compare.report import LimitResult
from qeval.record import Record


class Screened(NamedTuple):
    """What fidelity adds to a candidate's result."""

    fidelity: CandidateFidelity | None = None
    divergences: Mapping[CaseKey, Divergence] = MappingProxyType({})
    """Where each case first diverges, of those that do."""
    limits: tuple[LimitResult, ...] = ()
    missing: tuple[str, ...] = ()
    """Critical bounds that could not be checked."""
    notes: tuple[str, ...] = ()


def screen(
    baseline: Record,
    candidate: Record,
    pairs: Sequence[Pair],
    planned: Sequence[Planned],
    *,
    policy: Policy,
    alpha: float,
) -> Screened:
    """Sum up a candidate's fidelity and check the policy's bounds on it.

    Args:
        baseline: the record whose answers were scored.
        candidate: the record with the scores.
        pairs: of both.
        planned: slices over the pairs.
        policy: what the team accepts.
        alpha: level of each end of the intervals.
    """
    why = unreadable(baseline.header, candidate.header)
    found = scorings(baseline, candidate, pairs) if why is None else None
    bounded = check_fidelity(policy.fidelity, found, why)
    decides = policy.fidelity.decides
    # Where none was measured, the record's own notes say why.
    notes = [] if why is None or candidate.header.fidelity is None else [why]
    notes += [] if found is None else _left_out(found)
    return Screened(
        fidelity=None if found is None else summarise(found, planned, baseline.header.fidelity, alpha),
        divergences={} if found is None else found.divergences,
        limits=bounded.results,
        missing=bounded.unchecked if decides else (),
        notes=(*notes, *(bounded.unchecked if not decides else ()), *(_exceeded(bounded.results))),
    )


def _left_out(found: Scorings) -> list[str]:
    left_out = Counter(found.failed.values())
    left_out["not scored"] = len(found.pairs) - len(found.cases) - len(found.failed)
    parts = [f"{count} {name}" for name, count in sorted(left_out.items()) if count]
    return [f"fidelity leaves out cases, of {len(found.pairs)}: {', '.join(parts)}"] if parts else []


def _exceeded(results: Sequence[LimitResult]) -> list[str]:
    broken = [limit for limit in results if limit.broken and limit.level == "advisory"]
    return [f"bound on fidelity exceeded in {limit.slice.label}: {limit.text}; it does not gate" for limit in broken]
