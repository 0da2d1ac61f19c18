"""Which cases are independent evidence: equal prompts are one case, and cases that share anything are one cluster.

One place for every part that counts cases: the plan of a run, its comparison, and the check of suites.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import Annotated, NamedTuple

from qeval.groups import Groups
from qeval.strict import Strict
from qeval.text_kinds import TextKind

Name = tuple[str, ...]
"""Of a prompt or a cluster: equal where two cases share it."""
CORRELATION = 0.2
"""Of the results of near-equal cases, assumed where it has to be said what they are worth."""


class Known(NamedTuple):
    """A case, and by what it can be told that it shares something with others."""

    suite: str
    case: str
    cluster: str
    """As its suite declares it; a name is the suite's own."""
    asks: tuple[Name, ...]
    """Digests of its prompt, each of a kind that begins its name. One in common makes two prompts equal."""


class Shared(NamedTuple):
    """What a case shares with others."""

    prompt: Name
    cluster: Name


def settle(cases: Iterable[Known]) -> dict[tuple[str, str], Shared]:
    """Return, by suite and case id, the prompt and the cluster of each case.

    Cases with an equal prompt are of one cluster, in whatever suites they are; clusters that share a prompt become one.
    Neither depends on the order of the cases.
    """
    prompts, clusters = Groups[Name](), Groups[Name]()
    known = tuple(cases)
    for one in known:
        prompts.join([_case(one), *one.asks])
    for one in known:
        clusters.join([_cluster(one), ("prompt", *prompts.name(_case(one)))])
    return {(one.suite, one.case): Shared(prompts.name(_case(one)), clusters.name(_cluster(one))) for one in known}


def _case(one: Known) -> Name:
    return ("case", one.suite, one.case)


def _cluster(one: Known) -> Name:
    # Suites are written apart: an equal cluster name in two of them is a coincidence.
    return ("cluster", one.suite, one.cluster)


def kish_design_effect(sizes: Sequence[int], correlation: float) -> float:
    """Return the design effect of clusters of unequal size, 1 + (sum of squares / n - 1) R.

    Args:
        sizes: cases in each cluster.
        correlation: of the results within a cluster, 0 to 1.

    >>> kish_design_effect([5] * 8, 0.2), kish_design_effect([9, 1], 0.5)
    (1.8, 4.6)
    """
    n = sum(sizes)
    return 1 + (sum(size * size for size in sizes) / n - 1) * correlation if n else 1.0


class NearEqual(Strict):
    """Near-equal prompts that count as independent since they are in different clusters."""

    groups: int
    """Of different prompts, each in more than one cluster."""
    prompts: int
    """Different prompts in them."""
    largest: int
    """Different prompts in the largest."""
    example: Annotated[str, TextKind.NAME]
    """`suite/case` of the largest group."""
    clusters: int
    """Clusters of all cases that are left if near-equal ones are of one."""
    effective_n: float
    """Independent cases that all cases then say as much as, at `correlation` within a cluster."""
    correlation: float = CORRELATION


class Independence(Strict):
    """How much independent evidence a set of cases is."""

    cases: int
    suites: int
    prompts: int
    """Different ones; equal prompts count once."""
    clusters: int
    near_equal: NearEqual | None = None
    """None where there are no such prompts, or where the record does not say."""

    @property
    def copies(self) -> int:
        """Cases whose prompt another case has already."""
        return self.cases - self.prompts


class Placed(NamedTuple):
    """A case as it counts."""

    suite: str
    case: str
    shared: Shared
    near_equal: str | None
    """Name of the group of near-equal cases that it is in."""


def independence(cases: Sequence[Placed]) -> Independence:
    """Sum up how independent cases are."""
    by_prompt: dict[Name, Placed] = {}
    for one in cases:
        by_prompt.setdefault(one.shared.prompt, one)
    clusters = {one.shared.cluster for one in by_prompt.values()}
    return Independence(
        cases=len(cases),
        suites=len({one.suite for one in cases}),
        prompts=len(by_prompt),
        clusters=len(clusters),
        near_equal=_near_equal(list(by_prompt.values())),
    )


def _near_equal(different: Sequence[Placed]) -> NearEqual | None:
    groups: dict[str, list[Placed]] = defaultdict(list)
    for one in different:
        if one.near_equal is not None:
            groups[one.near_equal].append(one)
    counted = [group for group in groups.values() if len({one.shared.cluster for one in group}) > 1]
    if not counted:
        return None
    joined = Groups[Name]()
    for group in counted:
        joined.join(one.shared.cluster for one in group)
    sizes = Counter(joined.name(one.shared.cluster) for one in different)
    largest = max(counted, key=len)
    return NearEqual(
        groups=len(counted),
        prompts=sum(map(len, counted)),
        largest=len(largest),
        example=f"{largest[0].suite}/{largest[0].case}",
        clusters=len(sizes),
        effective_n=len(different) / kish_design_effect(list(sizes.values()), CORRELATION),
    )


def independence_notes(found: Independence) -> tuple[str, ...]:
    """Say what of a set of cases is not independent; nothing where all of it is."""
    return tuple(filter(None, [_copies_note(found), _near_note(found)]))


def _copies_note(found: Independence) -> str | None:
    if not found.copies:
        return None
    where = f" in {found.suites} suites" if found.suites > 1 else ""
    return (
        f"{found.cases:,} cases{where} ask {found.prompts:,} different prompts: equal prompts are one cluster and "
        f"count once, so {found.copies:,} cases add no evidence"
    )


def _near_note(found: Independence) -> str | None:
    near = found.near_equal
    if near is None:
        return None
    groups = "1 group" if near.groups == 1 else f"{near.groups:,} groups"
    return (
        f"near-equal prompts count as independent: {near.prompts:,} of {found.prompts:,} prompts differ from others in "
        f"numbers, names or a few words alone, in {groups} (the largest: {near.largest:,}, such as {near.example}). "
        f"With a correlation of {near.correlation:g} within a group all cases say as much as "
        f"{near.effective_n:,.0f} independent ones. Where they come from one template, give them one `cluster`"
    )
