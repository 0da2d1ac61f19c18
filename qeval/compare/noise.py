"""The noise floor: how often a variant disagrees with itself when only the batching changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from qeval.compare.churn import clustered_rate, disagreement, excess_churn
from qeval.compare.mcnemar import harm_midp
from qeval.compare.pairs import CaseKey, Scored, differs
from qeval.compare.power import FEWEST_REPEATS
from qeval.compare.report import ExcessChurn, SelfFlips, Stratum
from qeval.outcome import Outcome
from qeval.record import Record

LIMIT = 0.01
"""Mid-p, over all repeats, at which a variant's own repeat counts as different from its first run."""


class Own(NamedTuple):
    """A case that one variant ran more than once."""

    runs: int
    disagreement: float
    """Chance that two of its runs disagree on the metric."""
    flipped: bool
    text_changed: bool
    diverged: bool


class OwnChanges(NamedTuple):
    """What both arms of a comparison do against themselves, by case."""

    baseline: Mapping[CaseKey, Own]
    candidate: Mapping[CaseKey, Own]


class Noise(NamedTuple):
    """What a slice's repeats say of its flips."""

    baseline: SelfFlips | None
    candidate: SelfFlips | None
    excess: ExcessChurn | None
    stable: Stratum | None
    unstable: Stratum | None

    @property
    def explains(self) -> bool:
        """Whether the variants flip no more often than they flip against themselves, on average."""
        return self.excess is not None and self.excess.flip_rate > 0 and self.excess.estimate <= 1e-9

    @property
    def floor(self) -> float | None:
        """The larger of the two variants' own flip rates; None where too few cases ran again to say."""
        known = [own.rate for own in (self.baseline, self.candidate) if own is not None and own.n >= FEWEST_REPEATS]
        return max(known, default=None)


def own_changes(record: Record, metric: str) -> dict[CaseKey, Own]:
    """Return, for each case graded in its first run and in another, how its runs differ."""
    first = record.by_case()
    found = {}
    for key, outcomes in record.again().items():
        before = first.get(key)
        graded = [outcome for outcome in outcomes if outcome.value(metric) is not None]
        if before is not None and before.value(metric) is not None and graded:
            found[key] = _own(before, graded, metric)
    return found


def _own(before: Outcome, again: Sequence[Outcome], metric: str) -> Own:
    values = [outcome.value(metric) for outcome in (before, *again)]
    # A score counts as one of two: what it was at first, or something else.
    same = sum(value == values[0] for value in values)
    return Own(
        runs=len(values),
        disagreement=disagreement(same, len(values)),
        flipped=same < len(values),
        text_changed=any(differs(before, outcome) for outcome in again),
        diverged=any(outcome.token_ids != before.token_ids for outcome in again),
    )


class _Again(NamedTuple):
    """A case of a slice that ran more than once in one of the two variants."""

    scored: Scored
    ours: Own | None
    theirs: Own | None


def slice_noise(scored: Sequence[Scored], own: OwnChanges, alpha: float) -> Noise:
    """Sum up the noise of a slice."""
    again = _again(scored, own)
    if not again:
        return Noise(None, None, None, None, None)
    ours = [(one.scored, one.ours) for one in again if one.ours is not None]
    theirs = [(one.scored, one.theirs) for one in again if one.theirs is not None]
    excess = _excess(scored, ours, theirs, alpha) if ours and theirs else None
    return Noise(
        _self_flips([own for _, own in ours]), _self_flips([own for _, own in theirs]), excess, *_strata(again)
    )


def _again(scored: Sequence[Scored], own: OwnChanges) -> list[_Again]:
    if not (own.baseline or own.candidate):
        return []
    found = []
    for one in scored:
        key = (one.pair.info.suite, one.pair.info.case)
        ours, theirs = own.baseline.get(key), own.candidate.get(key)
        if ours is not None or theirs is not None:
            found.append(_Again(one, ours, theirs))
    return found


def _self_flips(seen: Sequence[Own]) -> SelfFlips | None:
    if not seen:
        return None
    return SelfFlips(
        n=len(seen),
        runs=max(one.runs for one in seen),
        flips=sum(one.flipped for one in seen),
        changed_texts=sum(one.text_changed for one in seen),
        divergences=sum(one.diverged for one in seen),
        rate=sum(one.disagreement for one in seen) / len(seen),
    )


def _excess(
    scored: Sequence[Scored],
    ours: Sequence[tuple[Scored, Own]],
    theirs: Sequence[tuple[Scored, Own]],
    alpha: float,
) -> ExcessChurn | None:
    graded = [(one, one.before, one.after) for one in scored if one.before is not None and one.after is not None]
    if not graded:
        return None
    apart = [before * (1 - after) + after * (1 - before) for _, before, after in graded]
    between = clustered_rate(apart, [_cluster(one) for one, _, _ in graded])
    rates = [
        clustered_rate([own.disagreement for _, own in arm], [_cluster(o) for o, _ in arm]) for arm in (ours, theirs)
    ]
    found = excess_churn(between, rates[0], rates[1], alpha)
    return ExcessChurn(flip_rate=between.value, estimate=found.estimate, low=found.low, high=found.high)


def _cluster(one: Scored) -> tuple[str, str]:
    return one.pair.info.suite, one.pair.info.cluster


def _strata(again: Sequence[_Again]) -> tuple[Stratum, Stratum]:
    """Return the cases that ran again and that both answered: those that always agreed with themselves, the others."""
    parts: tuple[list[Scored], list[Scored]] = ([], [])
    for one, ours, theirs in again:
        if one.both:
            parts[any(own is not None and own.flipped for own in (ours, theirs))].append(one)
    return _stratum(parts[0]), _stratum(parts[1])


def _stratum(members: Sequence[Scored]) -> Stratum:
    changes = [(one.after or 0) - (one.before or 0) for one in members]
    return Stratum(
        n=len(members), losses=sum(change < 0 for change in changes), gains=sum(change > 0 for change in changes)
    )


def self_faults(record: Record) -> tuple[str, ...]:
    """Return what makes a record unfit to compare: a repeat that passes clearly more or less often than repeat 0.

    Sampled answers are drawn anew each time and are not tested.
    """
    repeats = sorted({outcome.repeat for outcome in record.outcomes} - {0})
    if record.header.decoding.get("do_sample"):
        return ()
    first = record.by_case()
    faults = []
    for repeat in repeats:
        pairs = [(first[key], again) for key, again in record.by_case(repeat).items() if key in first]
        graded = [(before.passed(), again.passed()) for before, again in pairs]
        losses = sum(before is True and again is False for before, again in graded)
        gains = sum(before is False and again is True for before, again in graded)
        if min(harm_midp(losses, gains), harm_midp(gains, losses)) <= LIMIT / len(repeats):
            faults.append(
                f"{record.header.variant} differs from its own repeat {repeat}: {losses} cases right to wrong, "
                f"{gains} wrong to right; {_cause(record)}, so no difference can be read"
            )
    return tuple(faults)


def _cause(record: Record) -> str:
    moved = record.header.batch_mates
    if moved:
        return f"its rows depend on their batch mates, which move a row's logits by up to {moved:.2g}"
    return "its result depends on batching or state"
