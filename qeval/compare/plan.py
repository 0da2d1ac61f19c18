"""Which slices a comparison judges, and in which role: fixed by the policy and the cases, never by the results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from typing import NamedTuple

from qeval.compare.pairs import Pair
from qeval.compare.policy import FEWEST_CASES, Policy
from qeval.compare.report import Level, Role, SliceKey
from qeval.compare.slices import belongs, tag_slices
from qeval.record import CaseInfo


class Planned(NamedTuple):
    """A slice to judge."""

    key: SliceKey
    role: Role
    level: Level
    at: tuple[int, ...]
    """Positions of its pairs; empty where the records hold none."""
    margin: float
    too_few: bool
    """Under 30 cases."""
    named: bool
    """The policy asks for it by name, so it is judged even with too few cases."""
    largest: int | None = None
    """Pairs in its largest cluster, where only some of its cases were reached."""


def reached(planned: Sequence[Planned], infos: Sequence[CaseInfo], pairs: Sequence[Pair]) -> tuple[Planned, ...]:
    """Narrow slices that were planned on all cases down to the pairs there are; level and margin stay as planned.

    Args:
        planned: slices over `infos`.
        infos: all cases.
        pairs: those of a run that was ended early.
    """
    places = {(pair.info.suite, pair.info.case): i for i, pair in enumerate(pairs)}
    narrowed = []
    for plan in planned:
        members = [infos[i] for i in plan.at]
        at = tuple(sorted(places[key] for info in members if (key := (info.suite, info.case)) in places))
        clusters = Counter((info.suite, info.cluster) for info in members)
        narrowed.append(plan._replace(at=at, largest=max(clusters.values(), default=None)))
    return tuple(narrowed)


def plan_slices(cases: Sequence[CaseInfo], suites: Collection[str], policy: Policy) -> tuple[Planned, ...]:
    """Plan the pool, the suites, the required slices and the exploratory ones, in this order.

    Args:
        cases: of all pairs of two records, or of the suites that are to be run.
        suites: the baseline's suites; one that the candidate lacks is planned without pairs.
        policy: what the team accepts.
    """
    required = [key for key in policy.required_slices if key.tag is not None]
    gating = [SliceKey(), *(SliceKey(suite=suite) for suite in sorted(suites)), *_unknown(suites, policy), *required]
    planned = [_gating(key, cases, policy) for key in gating]
    found = tag_slices(cases)
    rest = sorted((key for key in found if key not in required), key=lambda key: (key.suite or "", key.label))
    return (*planned, *(_exploratory(key, found[key], policy) for key in rest))


def _unknown(suites: Collection[str], policy: Policy) -> list[SliceKey]:
    """Suites that the policy names and the records lack: judged without data, so that a typing error cannot pass."""
    named = {key.suite for key in policy.required_slices if key.tag is None} | set(policy.margins.suites)
    named |= {suite for suite, level in policy.level.items() if level == "critical"}
    return [SliceKey(suite=suite) for suite in sorted(suite for suite in named if suite) if suite not in suites]


def _gating(key: SliceKey, cases: Sequence[CaseInfo], policy: Policy) -> Planned:
    at = tuple(i for i, case in enumerate(cases) if belongs(key, case.suite, case.tags))
    role: Role = "required" if key.tag is not None else "suite" if key.suite is not None else "pool"
    too_few = len(at) < FEWEST_CASES
    named = role != "suite" or _names_suite(policy, key)
    # A suite without a single case is missing data, not a small suite: it keeps its level.
    level: Level = "advisory" if role == "suite" and at and too_few and not named else "critical"
    if role == "suite" and policy.level_of(key.suite or "") == "advisory":
        level = "advisory"
    return Planned(key, role, level, at, policy.margin_of(key, len(at)), too_few, named)


def _names_suite(policy: Policy, key: SliceKey) -> bool:
    return key in policy.required_slices or key.suite in policy.margins.suites or key.suite in policy.level


def _exploratory(key: SliceKey, at: tuple[int, ...], policy: Policy) -> Planned:
    too_few = len(at) < FEWEST_CASES
    return Planned(key, "exploratory", "advisory", at, policy.margin_of(key, len(at)), too_few, named=False)


def plan_metric(positions: dict[str, tuple[int, ...]], policy: Policy) -> tuple[Planned, ...]:
    """Plan one advisory row a suite for a grader's own metric.

    Args:
        positions: per suite, the positions of the pairs that have the metric.
        policy: what the team accepts.
    """
    return tuple(_exploratory(SliceKey(suite=suite), at, policy) for suite, at in sorted(positions.items()))
