"""The noise floor of fidelity: how far a variant lies from itself when only the batching changes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from qeval.compare.clustered_means import percentile
from qeval.compare.fidelity_result import SelfFidelity
from qeval.compare.members import CaseKey, Member
from qeval.compare.scored_cases import tally
from qeval.independence import Name
from qeval.record import Record
from qeval.scored import ScoredAnswer

FEWEST_POSITIONS = 20
"""Positions scored again under which nothing is said of how far noise reaches."""


class GapNoise(NamedTuple):
    """How far noise moves the gap between a position's two likeliest tokens."""

    reach: float | None
    """Larger of the two variants' 99th percentiles, nats; None where neither has enough positions."""
    n: int
    """Positions of the variants that count."""


def again(record: Record) -> tuple[ScoredAnswer, ...]:
    """Return what a variant scored again, against its own first scoring; failed scorings are left out."""
    return tuple(one for one in record.scored if one.repeat > 0 and one.kl)


def against_itself(scorings: Sequence[ScoredAnswer], cases: Iterable[Member]) -> SelfFidelity | None:
    """Sum up the scorings of some cases, None where none was scored again; equal prompts count once."""
    scored = {(one.suite, one.case) for one in scorings}
    first: dict[Name, CaseKey] = {}
    for case in cases:
        if case.key in scored:
            first.setdefault(case.shared.prompt, case.key)
    counted = set(first.values())
    chosen = [one for one in scorings if (one.suite, one.case) in counted]
    if not chosen:
        return None
    tallies = [tally(one) for one in chosen]
    n = sum(one.tokens for one in tallies)
    return SelfFidelity(
        n_cases=len({(one.suite, one.case) for one in chosen}),
        n_tokens=n,
        kld_mean=sum(one.kl for one in tallies) / n,
        same_top_p=sum(one.same_top for one in tallies) / n,
        shift_p99=percentile(sorted(abs(s) for one in chosen for s in one.shift), 0.99)
        if n >= FEWEST_POSITIONS
        else None,
    )


def gap_noise(ours: SelfFidelity | None, theirs: SelfFidelity | None) -> GapNoise:
    """Join what both variants do to their own gaps."""
    known = [(own.shift_p99, own.n_tokens) for own in (ours, theirs) if own and own.shift_p99 is not None]
    return GapNoise(max((reach for reach, _ in known), default=None), sum(n for _, n in known))


def noise_floor(ours: SelfFidelity | None, theirs: SelfFidelity | None) -> float | None:
    """Return the larger of the two variants' own mean KL, nats; None where neither was scored again at 20 positions."""
    known = [own.kld_mean for own in (ours, theirs) if own and own.n_tokens >= FEWEST_POSITIONS]
    return max(known, default=None)
