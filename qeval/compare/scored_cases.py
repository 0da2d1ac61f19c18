"""ScoredAnswer answers ready for statistics: sums over the positions of each case, and of each cluster of cases."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from qeval.compare.members import CaseKey, Member
from qeval.errors import UsageError
from qeval.independence import Name
from qeval.record import Record
from qeval.scored import ScoredAnswer


class Tally(NamedTuple):
    """Sums over the positions of an answer."""

    tokens: int
    kl: float
    reverse_kl: float | None
    """None where it was not asked for."""
    total_variation: float
    same_top: int
    dp: float
    """Of the answer's token: its probability by the variant, less that by the reference."""
    dp_squared: float
    reference_nll: float
    nll: float
    entropy: float


class ScoredCase(NamedTuple):
    """A case of a slice with what was scored of it."""

    member: Member
    prompt_tokens: int | None
    scored: ScoredAnswer
    tally: Tally

    @property
    def cluster(self) -> Name:
        """What its answers share with others, in whatever suites they are."""
        return self.member.shared.cluster


def tally(scored: ScoredAnswer) -> Tally:
    """Sum up the positions of an answer."""
    moves = _dp(scored)
    return Tally(
        tokens=len(scored.kl),
        kl=math.fsum(scored.kl),
        reverse_kl=None if scored.reverse_kl is None else math.fsum(scored.reverse_kl),
        total_variation=math.fsum(scored.total_variation),
        same_top=sum(ours == theirs for ours, theirs in zip(scored.reference_top, scored.top, strict=True)),
        dp=math.fsum(moves),
        dp_squared=math.fsum(move * move for move in moves),
        reference_nll=-math.fsum(scored.reference_logprob),
        nll=-math.fsum(scored.logprob),
        entropy=math.fsum(scored.entropy),
    )


def _dp(scored: ScoredAnswer) -> list[float]:
    return [math.exp(q) - math.exp(p) for q, p in zip(scored.logprob, scored.reference_logprob, strict=True)]


def first_scorings(record: Record) -> dict[CaseKey, ScoredAnswer]:
    """Return what a variant scored first, by case.

    Raises:
        UsageError: an answer stands twice, or exact values and lower bounds stand in one record.
    """
    _refuse_twice(record)
    first = {(one.suite, one.case): one for one in record.scored if one.repeat == 0}
    if len({one.kind for one in first.values() if one.fault is None}) > 1:
        raise UsageError(
            f"record of {record.header.variant}: exact divergences and lower bounds stand side by side, and have no "
            "common mean. Run the variant again."
        )
    return first


def _refuse_twice(record: Record) -> None:
    for (suite, case, repeat), times in Counter((o.suite, o.case, o.repeat) for o in record.scored).items():
        if times > 1:
            name = f"case '{case}' of {suite}, repeat {repeat}"
            raise UsageError(
                f"record of {record.header.variant}: {name}, was scored {times} times. Run the variant again."
            )


def once_scored(cases: Iterable[ScoredCase]) -> list[ScoredCase]:
    """Return the first case of each prompt: equal prompts say nothing new."""
    first: dict[Name, ScoredCase] = {}
    for case in cases:
        first.setdefault(case.member.shared.prompt, case)
    return list(first.values())


def by_cluster(cases: Iterable[ScoredCase], value: Callable[[Tally], float]) -> list[float]:
    """Return sums over clusters, in the order in which they are first met."""
    sums: dict[Name, float] = defaultdict(float)
    for case in cases:
        sums[case.cluster] += value(case.tally)
    return list(sums.values())


def cluster_sizes(cases: Iterable[ScoredCase]) -> list[int]:
    """Return the positions of each cluster, in the same order."""
    return [int(size) for size in by_cluster(cases, lambda sums: sums.tokens)]


def kl_values(cases: Sequence[ScoredCase]) -> list[float]:
    """Return the KL divergence at every position, from the smallest on."""
    return sorted(kl for case in cases for kl in case.scored.kl)


def reverse_kl_values(cases: Sequence[ScoredCase]) -> list[float] | None:
    """Return the reverse KL divergence at every position, from the smallest on; None unless it is known of all."""
    found: list[float] = []
    for case in cases:
        if case.scored.reverse_kl is None:
            return None
        found += case.scored.reverse_kl
    return sorted(found)


def dp_values(cases: Sequence[ScoredCase]) -> list[float]:
    """Return the change of the probability of the answer's token at every position, from the smallest on."""
    return sorted(dp for case in cases for dp in _dp(case.scored))
