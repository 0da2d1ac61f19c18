"""Which slices a comparison judges, and in which role: fixed by the policy and the cases, never by the results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from qeval.compare.members import Member
from qeval.compare.pairs import Pair
from qeval.compare.policy import FEWEST_CASES, Policy
from qeval.compare.report import Level, Role, SliceKey
from qeval.compare.slices import belongs, tag_slices
from qeval.independence import Name

Ask = tuple[Name, str]
"""A prompt, and what is expected of the answer."""


class Planned(NamedTuple):
    """A slice to judge."""

    key: SliceKey
    role: Role
    level: Level
    at: tuple[int, ...]
    """Positions of its pairs; empty where the records hold none."""
    margin: float
    too_few: bool
    """Under 30 different prompts."""
    named: bool
    """The policy asks for it by name, so it is judged even with too few cases."""
    asks: frozenset[Ask]
    """The different questions of its cases: slices with the same ones are one test, whatever suites they are of."""
    largest: int | None = None
    """Different prompts in its largest cluster, where only some of its cases were reached."""


def reached(planned: Sequence[Planned], cases: Sequence[Member], pairs: Sequence[Pair]) -> tuple[Planned, ...]:
    """Narrow slices that were planned on all cases down to the pairs there are; level and margin stay as planned.

    Args:
        planned: slices over `cases`.
        cases: all of them.
        pairs: those of a run that was ended early.
    """
    places = {pair.member.key: i for i, pair in enumerate(pairs)}
    narrowed = []
    for plan in planned:
        members = [cases[i] for i in plan.at]
        at = tuple(sorted(places[one.key] for one in members if one.key in places))
        asks = _asks([one for one in members if one.key in places])
        narrowed.append(plan._replace(at=at, asks=asks, largest=max(cluster_sizes(members), default=None)))
    return tuple(narrowed)


def cluster_sizes(members: Iterable[Member]) -> list[int]:
    """Return the different prompts in each cluster."""
    return list(Counter(shared.cluster for shared in {one.shared for one in members}).values())


def plan_slices(cases: Sequence[Member], suites: Collection[str], policy: Policy) -> tuple[Planned, ...]:
    """Plan the pool, the suites, the required slices and the exploratory ones, in this order.

    Args:
        cases: of all pairs of two records, or of the suites that are to be run.
        suites: the baseline's suites; one that the candidate lacks is planned without pairs.
        policy: what the team accepts.
    """
    required = [key for key in policy.required_slices if key.tag is not None]
    gating = [SliceKey(), *(SliceKey(suite=suite) for suite in sorted(suites)), *_unknown(suites, policy), *required]
    planned = [_gating(key, cases, policy) for key in gating]
    found = tag_slices([one.info for one in cases])
    rest = sorted((key for key in found if key not in required), key=lambda key: (key.suite or "", key.label))
    return (*planned, *(_exploratory(key, found[key], [cases[i] for i in found[key]], policy) for key in rest))


def _unknown(suites: Collection[str], policy: Policy) -> list[SliceKey]:
    """Suites that the policy names and the records lack: judged without data, so that a typing error cannot pass."""
    named = {key.suite for key in policy.required_slices if key.tag is None} | set(policy.margins.suites)
    named |= {suite for suite, level in policy.level.items() if level == "critical"}
    return [SliceKey(suite=suite) for suite in sorted(suite for suite in named if suite) if suite not in suites]


def _gating(key: SliceKey, cases: Sequence[Member], policy: Policy) -> Planned:
    at = tuple(i for i, case in enumerate(cases) if belongs(key, case.info.suite, case.info.tags))
    members = [cases[i] for i in at]
    role: Role = "required" if key.tag is not None else "suite" if key.suite is not None else "pool"
    n = _different(members)
    too_few = n < FEWEST_CASES
    named = role != "suite" or _names_suite(policy, key)
    # A suite without a single case is missing data, not a small suite: it keeps its level.
    level: Level = "advisory" if role == "suite" and at and too_few and not named else "critical"
    if role == "suite" and policy.level_of(key.suite or "") == "advisory":
        level = "advisory"
    return Planned(key, role, level, at, policy.margin_of(key, n), too_few, named, _asks(members))


def _names_suite(policy: Policy, key: SliceKey) -> bool:
    return key in policy.required_slices or key.suite in policy.margins.suites or key.suite in policy.level


def _exploratory(key: SliceKey, at: tuple[int, ...], members: Sequence[Member], policy: Policy) -> Planned:
    n = _different(members)
    margin = policy.margin_of(key, n)
    return Planned(key, "exploratory", "advisory", at, margin, n < FEWEST_CASES, named=False, asks=_asks(members))


def _different(members: Iterable[Member]) -> int:
    return len({one.shared.prompt for one in members})


def _asks(members: Iterable[Member]) -> frozenset[Ask]:
    return frozenset((one.shared.prompt, one.info.expected) for one in members)


def plan_metric(positions: Mapping[str, tuple[int, ...]], pairs: Sequence[Pair], policy: Policy) -> tuple[Planned, ...]:
    """Plan one advisory row a suite for a grader's own metric.

    Args:
        positions: per suite, the positions of the pairs that have the metric.
        pairs: to which the positions point.
        policy: what the team accepts.
    """
    return tuple(
        _exploratory(SliceKey(suite=suite), at, [pairs[i].member for i in at], policy)
        for suite, at in sorted(positions.items())
    )
