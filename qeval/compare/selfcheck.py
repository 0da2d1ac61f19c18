"""How often a variant disagrees with itself: what its repeats, run with other batching, say against repeat 0."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from qeval.compare.mcnemar import harm_midp
from qeval.compare.pairs import differs
from qeval.compare.report import SelfFlips
from qeval.record import Record

CaseKey = tuple[str, str]
LIMIT = 0.01
"""Mid-p at which a variant's own repeat counts as different from its first run."""


class Own(NamedTuple):
    """A case that one variant ran more than once."""

    flipped: bool
    text_changed: bool


class OwnChanges(NamedTuple):
    """What both arms of a comparison do against themselves, by case."""

    baseline: Mapping[CaseKey, Own]
    candidate: Mapping[CaseKey, Own]


def own_changes(record: Record, metric: str) -> dict[CaseKey, Own]:
    """Return, for each case graded in repeat 0 and in another repeat, whether anything changed in any repeat."""
    first = record.by_case()
    found: dict[CaseKey, Own] = {}
    for again in (outcome for outcome in record.outcomes if outcome.repeat > 0):
        key = (again.suite, again.case)
        before = first.get(key)
        one, other = before and before.passed(metric), again.passed(metric)
        if one is None or other is None:
            continue
        known = found.get(key, Own(False, False))
        found[key] = Own(known.flipped or one != other, known.text_changed or differs(before, again))
    return found


def self_flips(keys: Iterable[CaseKey], own: Mapping[CaseKey, Own]) -> SelfFlips | None:
    """Sum up the cases of a slice; None where none ran twice."""
    seen = [own[key] for key in keys if key in own]
    if not seen:
        return None
    return SelfFlips(
        n=len(seen), flips=sum(one.flipped for one in seen), changed_texts=sum(one.text_changed for one in seen)
    )


def within_noise(flips: int, n: int, baseline: SelfFlips | None, candidate: SelfFlips | None) -> bool:
    """Return whether the pairs flip no more often than the two variants flip against themselves, on average."""
    if not (flips and baseline and candidate):
        return False
    return flips / n <= (baseline.flips / baseline.n + candidate.flips / candidate.n) / 2


def self_faults(record: Record) -> tuple[str, ...]:
    """Return what makes a record unfit to compare: a repeat that passes clearly more or less often than repeat 0."""
    first = record.by_case()
    faults = []
    for repeat in sorted({outcome.repeat for outcome in record.outcomes} - {0}):
        pairs = [(first[key], again) for key, again in record.by_case(repeat).items() if key in first]
        graded = [(before.passed(), again.passed()) for before, again in pairs]
        losses = sum(before is True and again is False for before, again in graded)
        gains = sum(before is False and again is True for before, again in graded)
        if min(harm_midp(losses, gains), harm_midp(gains, losses)) <= LIMIT:
            faults.append(
                f"{record.header.variant} differs from its own repeat {repeat}: {losses} cases right to wrong, "
                f"{gains} wrong to right; its result depends on batching or state, so no difference can be read"
            )
    return tuple(faults)
