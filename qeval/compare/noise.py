"""The noise floor: how often a variant disagrees with itself when only the batching changes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from qeval.compare.churn import Rate, clustered_rate, disagreement, excess_churn
from qeval.compare.clusters import sign_flip_tail
from qeval.compare.members import CaseKey, Member, members_of
from qeval.compare.pairs import Scored, differs, once
from qeval.compare.power import FEWEST_REPEATS
from qeval.compare.report import ExcessChurn, SelfFlips, Stratum
from qeval.independence import Name
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
    averaged: float = 1.0
    """Share of a single run's noise that is left where cases count with the mean of their runs."""

    @property
    def explains(self) -> bool:
        """Whether the variants flip no more often than they flip against themselves, on average."""
        return self.excess is not None and self.excess.flip_rate > 0 and self.excess.estimate <= 1e-9

    @property
    def floor(self) -> float | None:
        """The larger of the two variants' own flip rates; None where too few cases ran again to say."""
        known = [own.rate for own in (self.baseline, self.candidate) if own is not None and own.n >= FEWEST_REPEATS]
        return max(known, default=None)

    @property
    def floor_of_means(self) -> float | None:
        """The noise floor of what is compared: less than that of single runs where cases ran more than once."""
        return None if self.floor is None else self.floor * self.averaged


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


def slice_noise(scored: Sequence[Scored], own: OwnChanges, alpha: float, *, churns: bool = True) -> Noise:
    """Sum up the noise of a slice.

    Args:
        scored: its members on one metric.
        own: what both variants do against themselves.
        alpha: level of each end of the interval of excess churn.
        churns: whether the metric passes or fails, so that variants can flip it; scores have no excess churn.
    """
    again = _again(scored, own)
    if not again:
        return Noise(None, None, None, None, None)
    weights = _weights(scored, again)
    different = len(_homes(scored))
    ours = _arm([(one.scored, one.ours) for one in again if one.ours is not None], weights)
    theirs = _arm([(one.scored, one.theirs) for one in again if one.theirs is not None], weights)
    excess = _excess(scored, ours.rate, theirs.rate, alpha) if ours and theirs and churns else None
    stable, unstable = _strata(again)
    return Noise(
        ours and ours.flips, theirs and theirs.flips, excess, stable, unstable, averaged=_averaged(different, again)
    )


def _again(scored: Sequence[Scored], own: OwnChanges) -> list[_Again]:
    """Return the cases of a slice that ran again; of equal prompts the first that did."""
    found: dict[Name, _Again] = {}
    for one in scored if own.baseline or own.candidate else ():
        key = one.pair.member.key
        ours, theirs = own.baseline.get(key), own.candidate.get(key)
        if ours is not None or theirs is not None:
            found.setdefault(one.pair.member.shared.prompt, _Again(one, ours, theirs))
    return list(found.values())


def _averaged(cases: int, again: Sequence[_Again]) -> float:
    """Return the mean, over all cases and both variants, of 1 / runs of the case."""
    saved = sum(1 - 1 / own.runs for one in again for own in (one.ours, one.theirs) if own is not None)
    return 1 - saved / (2 * cases)


def _weights(scored: Sequence[Scored], again: Sequence[_Again]) -> dict[CaseKey, float]:
    """Return, by case, how many of the slice each one that ran again stands for: suites repeat other shares.

    Equal prompts are one case, of the suite in which the first of them is.
    """
    homes = _homes(scored)
    cases = Counter(homes.values())
    at_home = {one.scored.pair.member.key: homes[one.scored.pair.member.shared.prompt] for one in again}
    repeated = Counter(at_home.values())
    return {key: cases[suite] / repeated[suite] for key, suite in at_home.items()}


def _homes(scored: Sequence[Scored]) -> dict[Name, str]:
    """Return the suite of each different prompt."""
    homes: dict[Name, str] = {}
    for one in scored:
        homes.setdefault(one.pair.member.shared.prompt, one.pair.info.suite)
    return homes


class _Arm(NamedTuple):
    """One variant's noise in a slice."""

    flips: SelfFlips
    rate: Rate


def _arm(seen: Sequence[tuple[Scored, Own]], weights: Mapping[CaseKey, float]) -> _Arm | None:
    if not seen:
        return None
    rate = clustered_rate(
        [own.disagreement for _, own in seen],
        [one.pair.member.shared.cluster for one, _ in seen],
        [weights[one.pair.member.key] for one, _ in seen],
    )
    flips = SelfFlips(
        n=len(seen),
        runs=max(own.runs for _, own in seen),
        flips=sum(own.flipped for _, own in seen),
        changed_texts=sum(own.text_changed for _, own in seen),
        divergences=sum(own.diverged for _, own in seen),
        rate=rate.value,
    )
    return _Arm(flips, rate)


def _excess(scored: Sequence[Scored], ours: Rate, theirs: Rate, alpha: float) -> ExcessChurn | None:
    graded = [(one, one.before or 0, one.after or 0) for one in once(scored)]
    if not graded:
        return None
    apart = [before * (1 - after) + after * (1 - before) for _, before, after in graded]
    between = clustered_rate(apart, [one.pair.member.shared.cluster for one, _, _ in graded])
    found = excess_churn(between, ours, theirs, alpha)
    return ExcessChurn(flip_rate=between.value, estimate=found.estimate, low=found.low, high=found.high)


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
    members = members_of(record.cases, [record])
    faults = []
    for repeat in repeats:
        pairs = {key: (first[key], again) for key, again in record.by_case(repeat).items() if key in first}
        graded = {key: (before.passed(), again.passed()) for key, (before, again) in pairs.items()}
        lost = [key for key, (before, again) in graded.items() if before is True and again is False]
        won = [key for key, (before, again) in graded.items() if before is False and again is True]
        losses, gains = len(lost), len(won)
        nets = _nets(won, lost, members)
        either = (sign_flip_tail(list(nets.values())), sign_flip_tail([-net for net in nets.values()]))
        if min(tail.midp for tail in either) <= LIMIT / len(repeats):
            faults.append(
                f"{record.header.variant} differs from its own repeat {repeat}: {losses} cases right to wrong, "
                f"{gains} wrong to right; {_cause(record)}, so no difference can be read"
            )
    return tuple(faults)


def _nets(won: Sequence[CaseKey], lost: Sequence[CaseKey], members: Mapping[CaseKey, Member]) -> Counter[Name]:
    """Return gains minus losses of each cluster, where the first of equal prompts counts."""
    first: dict[Name, CaseKey] = {}
    for key in sorted([*won, *lost]):
        first.setdefault(members[key].shared.prompt, key)
    counted = set(first.values())
    nets = Counter(members[key].shared.cluster for key in won if key in counted)
    nets.subtract(members[key].shared.cluster for key in lost if key in counted)
    return nets


def _cause(record: Record) -> str:
    moved = record.header.batch_mates
    if moved:
        return f"its rows depend on their batch mates, which move a row's logits by up to {moved:.2g}"
    return "its result depends on batching or state"
