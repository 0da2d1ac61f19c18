"""The noise floor: how often a variant disagrees with itself when only the batching changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from qeval.compare.churn import Rate, clustered_rate, disagreement, excess_churn
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
    between: float
    """Flip rate between the two variants: the chance that a run of one disagrees with a run of the other."""
    excess: ExcessChurn | None
    stable: Stratum | None
    unstable: Stratum | None

    @property
    def explains(self) -> bool:
        """Whether the variants flip no more often than they flip against themselves, on average."""
        return self.between > 0 and self.excess is not None and self.excess.estimate <= 1e-9

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


def slice_noise(scored: Sequence[Scored], own: OwnChanges, alpha: float) -> Noise:
    """Sum up the noise of a slice."""
    baseline, candidate = _self_flips(scored, own.baseline), _self_flips(scored, own.candidate)
    stable, unstable = _strata(scored, own)
    between = _between(scored)
    excess = _excess(between, scored, own, alpha)
    return Noise(baseline, candidate, between.value if between else 0.0, excess, stable, unstable)


def _key(one: Scored) -> CaseKey:
    return one.pair.info.suite, one.pair.info.case


def _self_flips(scored: Sequence[Scored], own: Mapping[CaseKey, Own]) -> SelfFlips | None:
    seen = [own[_key(one)] for one in scored if _key(one) in own]
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


def _between(scored: Sequence[Scored]) -> Rate | None:
    graded = [(one, one.before, one.after) for one in scored if one.before is not None and one.after is not None]
    if not graded:
        return None
    apart = [before * (1 - after) + after * (1 - before) for _, before, after in graded]
    return clustered_rate(apart, [_cluster(one) for one, _, _ in graded])


def _excess(between: Rate | None, scored: Sequence[Scored], own: OwnChanges, alpha: float) -> ExcessChurn | None:
    ours = [(own.baseline[_key(one)].disagreement, one) for one in scored if _key(one) in own.baseline]
    theirs = [(own.candidate[_key(one)].disagreement, one) for one in scored if _key(one) in own.candidate]
    if not (between and ours and theirs):
        return None
    rates = [clustered_rate([rate for rate, _ in arm], [_cluster(one) for _, one in arm]) for arm in (ours, theirs)]
    found = excess_churn(between, rates[0], rates[1], alpha)
    return ExcessChurn(estimate=found.estimate, low=found.low, high=found.high)


def _cluster(one: Scored) -> tuple[str, str]:
    return one.pair.info.suite, one.pair.info.cluster


def _strata(scored: Sequence[Scored], own: OwnChanges) -> tuple[Stratum | None, Stratum | None]:
    """Return the cases that ran again: those that always agreed with themselves, and the others."""
    parts: tuple[list[Scored], list[Scored]] = ([], [])
    for one in scored:
        known = [arm[_key(one)] for arm in own if _key(one) in arm]
        if known and one.both:
            parts[any(arm.flipped for arm in known)].append(one)
    if not any(parts):
        return None, None
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
                f"{gains} wrong to right; its result depends on batching or state, so no difference can be read"
            )
    return tuple(faults)
