"""Pairs: the same case in two records, and what each arm made of it on one metric."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from qeval.compare.members import CaseKey as CaseKey
from qeval.compare.members import Member, members_of
from qeval.errors import UsageError
from qeval.independence import Name
from qeval.outcome import SCORE_SUFFIX, Grade, Outcome
from qeval.record import CaseInfo, Record, State

_ABSENCE: dict[State, str] = {
    "running": "interrupted",
    "complete": "missing",
    "crashed": "crashed",
    "out_of_memory": "out_of_memory",
    "timeout": "timeout",
    "unsupported": "unsupported",
    "interrupted": "interrupted",
}
"""The class of a case without an outcome, by the state its record ended in."""


class Arm(NamedTuple):
    """One record's side of a pair."""

    outcome: Outcome | None
    absence: str
    """The class that stands for the outcome where there is none."""
    again: tuple[Outcome, ...] = ()
    """What it answered when the case ran again."""

    def passed(self, metric: str) -> bool | None:
        """Return pass or fail of the first run, None where not graded."""
        return self.outcome.passed(metric) if self.outcome else None

    def value(self, metric: str) -> float | None:
        """Return the metric, its mean where the case ran more than once; None where the first run is not graded."""
        first = self.outcome.value(metric) if self.outcome else None
        if first is None or not self.again:
            return first
        return _mean([first, *(v for outcome in self.again if (v := outcome.value(metric)) is not None)])

    @property
    def no_answer(self) -> str | None:
        """The class of having no answer, None where there is one."""
        if self.outcome is None:
            return self.absence
        return None if self.outcome.answered else self.outcome.status


class Pair(NamedTuple):
    """The same case in the baseline and in a candidate."""

    member: Member
    baseline: Arm
    candidate: Arm
    text_changed: bool
    """Whether both answered and the first answers differ in text or tool calls."""

    @property
    def info(self) -> CaseInfo:
        """What slices and reports need to know of the case."""
        return self.member.info


class Pairing(NamedTuple):
    """All pairs of two records, in the order of the baseline's cases."""

    pairs: tuple[Pair, ...]
    """Cases of suites that both records hold; a case that one of them lacks is a pair with an empty arm."""
    unpaired: tuple[str, ...]
    """`suite/case` of cases that only one of two records holds, in suites that both ran."""
    missing_suites: tuple[str, ...]
    """Suites of the baseline that the candidate never had."""
    extra_suites: tuple[str, ...]
    """Suites of the candidate that the baseline never had."""
    planned: tuple[Member, ...]
    """All cases of the suites in common; more than the pairs where the candidate's run was ended early."""


class Scored(NamedTuple):
    """One pair on one metric."""

    pair: Pair
    before: float | None
    """The baseline's value in [0, 1]: 1 or 0, or a mean over repeats, or a score."""
    after: float | None
    before_absence: str | None
    """Why `before` is None."""
    after_absence: str | None

    @property
    def both(self) -> bool:
        """Whether both arms were graded."""
        return self.before is not None and self.after is not None


def pair_records(baseline: Record, candidate: Record) -> Pairing:
    """Pair two records by suite and case id.

    Raises:
        UsageError: a record holds an id twice, so that one case would stand for two.
    """
    for record in (baseline, candidate):
        _refuse_twice(record)
    before, after = baseline.by_case(), candidate.by_case()
    infos = {(info.suite, info.case): info for record in (baseline, candidate) for info in record.cases}
    members = members_of(infos.values(), (baseline, candidate))
    ordered = _reached(infos, candidate, after)
    shared = baseline.header.suites.keys() & candidate.header.suites.keys()
    gone, lost = _ABSENCE[baseline.header.state], _ABSENCE[candidate.header.state]
    keys = tuple(ordered)
    ours, theirs = baseline.again(), candidate.again()
    pairs = tuple(
        _pair(
            members[key],
            Arm(before.get(key), gone, ours.get(key, ())),
            Arm(after.get(key), lost, theirs.get(key, ())),
        )
        for key in keys
        if key[0] in shared
    )
    alone = _held(baseline) ^ _held(candidate)
    unpaired = tuple(f"{suite}/{case}" for suite, case in keys if suite in shared and (suite, case) in alone)
    missing, extra = sorted(baseline.header.suites.keys() - shared), sorted(candidate.header.suites.keys() - shared)
    planned = tuple(member for member in members.values() if member.info.suite in shared)
    return Pairing(pairs, unpaired, tuple(missing), tuple(extra), planned)


def _reached(keys: Iterable[CaseKey], candidate: Record, after: Mapping[CaseKey, Outcome]) -> list[CaseKey]:
    """Return the cases of both records; of a run that was ended early, those it came to."""
    stopping = candidate.header.stopping
    return [key for key in keys if stopping is None or stopping.ended is None or key in after]


def _refuse_twice(record: Record) -> None:
    cases = Counter(f"case '{info.case}' of {info.suite}" for info in record.cases)
    runs = Counter(f"case '{o.case}' of {o.suite}, repeat {o.repeat}," for o in record.outcomes)
    for name, times in (*cases.items(), *runs.items()):
        if times > 1:
            raise UsageError(f"record of {record.header.variant}: {name} stands {times} times; give each its own id.")


def _pair(member: Member, baseline: Arm, candidate: Arm) -> Pair:
    before, after = baseline.outcome, candidate.outcome
    both = before is not None and after is not None and before.answered and after.answered
    return Pair(member, baseline, candidate, text_changed=both and differs(before, after))


def differs(one: Outcome | None, other: Outcome | None) -> bool:
    """Return whether two answers differ in text or tool calls."""
    return one is None or other is None or one.text != other.text or one.tool_calls != other.tool_calls


def _held(record: Record) -> set[tuple[str, str]]:
    """The cases a record holds: of a complete one those with an outcome, else those it set out to run."""
    planned = {(info.suite, info.case) for info in record.cases}
    return planned & record.by_case().keys() if record.header.state == "complete" else planned


def score(pairs: Iterable[Pair], metric: str) -> tuple[Scored, ...]:
    """Put pairs on a metric. For metrics other than `pass`, only pairs where an arm was graded on it appear."""
    return tuple(_score_one(pair, metric) for pair in pairs if metric == "pass" or _has(pair, metric))


def once(scored: Iterable[Scored]) -> tuple[Scored, ...]:
    """Return the pairs graded in both arms with equal prompts as one: the first of them, with the means of all.

    An equal prompt says no more than a case that ran again, and counts like one.
    """
    same: dict[Name, list[tuple[Scored, float, float]]] = defaultdict(list)
    for one in scored:
        if one.before is not None and one.after is not None:
            same[one.pair.member.shared.prompt].append((one, one.before, one.after))
    return tuple(
        copies[0][0]._replace(
            before=_mean([before for _, before, _ in copies]), after=_mean([after for _, _, after in copies])
        )
        for copies in same.values()
    )


def _mean(values: Sequence[float]) -> float:
    mean = sum(values) / len(values)
    return int(mean) if mean in {0.0, 1.0} else mean


def _score_one(pair: Pair, metric: str) -> Scored:
    before, after = pair.baseline.value(metric), pair.candidate.value(metric)
    return Scored(pair, before, after, _absence(pair.baseline, metric, before), _absence(pair.candidate, metric, after))


def other_metrics(pairs: Iterable[Pair]) -> tuple[str, ...]:
    """Return the graders' own metrics found in the answers of either arm, and scores that are not all 0 or 1."""
    arms = (arm for pair in pairs for arm in (pair.baseline, pair.candidate))
    found: set[str] = set()
    for arm in arms:
        for grade in _grades(arm):
            found.add(grade.metric)
            if grade.score is not None and 0 < grade.score < 1:
                found.add(f"{grade.metric}{SCORE_SUFFIX}")
    return tuple(sorted(found))


def _has(pair: Pair, metric: str) -> bool:
    name = metric.removesuffix(SCORE_SUFFIX)
    return any(grade.metric == name for arm in (pair.baseline, pair.candidate) for grade in _grades(arm))


def _grades(arm: Arm) -> tuple[Grade, ...]:
    return arm.outcome.grades if arm.outcome and arm.outcome.answered else ()


def _absence(arm: Arm, metric: str, value: float | None) -> str | None:
    if value is not None:
        return None
    if arm.no_answer:
        return arm.no_answer
    name = metric.removesuffix(SCORE_SUFFIX)
    ungraded = (g for g in _grades(arm) if g.status == "ungraded" and (g.metric == name or metric == "pass"))
    return next((grade.fault for grade in ungraded if grade.fault), "ungraded")
