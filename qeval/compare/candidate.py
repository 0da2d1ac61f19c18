"""One candidate against its baseline: comparability, verdicts, limits, decision."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from qeval.compare.changed import Seen, changed_cases
from qeval.compare.comparability import compare_headers
from qeval.compare.decision import decide
from qeval.compare.identical import copied_answers, identity_notes, is_identical
from qeval.compare.judged import judge_difference
from qeval.compare.levels import Levels, levels
from qeval.compare.limits import Checked, check_limits
from qeval.compare.noise import Own, OwnChanges, own_changes, self_faults
from qeval.compare.pairs import CaseKey, Pair, Pairing, Scored, other_metrics, pair_records, score
from qeval.compare.plan import Planned, plan_metric, plan_slices, reached
from qeval.compare.policy import Policy
from qeval.compare.report import CandidateResult, ChangedCase, Verdict
from qeval.compare.screening import Screened, screen
from qeval.compare.verdict import as_passed, judge_slices
from qeval.grading.judge import METRIC as JUDGE
from qeval.record import Reason, Record, Stopping

_EVIDENCE: dict[Reason, str] = {"harm": "proven harm", "acceptance": "proof that no margin is exceeded"}


class Compared(NamedTuple):
    """A candidate's result with the cases whose answers changed."""

    result: CandidateResult
    changed: tuple[ChangedCase, ...]


class OwnRecord:
    """A record with what it does against itself, worked out once a metric."""

    def __init__(self, record: Record) -> None:
        """Test a record against its own repeats."""
        self.record = record
        self.faults = self_faults(record)
        self._changes: dict[str, dict[CaseKey, Own]] = {}

    def changes(self, metric: str) -> dict[CaseKey, Own]:
        """Return the cases that ran more than once, on a metric."""
        if metric not in self._changes:
            self._changes[metric] = own_changes(self.record, metric)
        return self._changes[metric]


def compare_candidate(
    ours: OwnRecord, theirs: OwnRecord, policy: Policy, alpha: float, *, required: bool, faults: Sequence[str] = ()
) -> Compared:
    """Compare a candidate with the baseline.

    Args:
        ours: the baseline.
        theirs: the candidate.
        policy: what the team accepts.
        alpha: the candidate's share of the policy's.
        required: whether its decision is the run's.
        faults: what forbids the comparison for reasons that the two records do not show.
    """
    baseline, candidate = ours.record, theirs.record
    pairing = pair_records(baseline, candidate)
    found = compare_headers(baseline, candidate, pairing.pairs)
    # Pairs that were not shown the same are not pairs: no verdict is drawn from them.
    readable = not found.faults
    copied = copied_answers(baseline, candidate, pairing.pairs) if readable else ()
    comparability = found.model_copy(update={"faults": (*faults, *found.faults, *copied, *ours.faults, *theirs.faults)})
    at = levels(alpha, candidate.header.stopping)
    planned = _planned(baseline, pairing, policy, at)
    verdicts = tuple(_verdicts(ours, theirs, pairing.pairs, policy, planned=planned, at=at)) if readable else ()
    screened = Screened()
    if readable:
        screened = screen(baseline, candidate, pairing.pairs, planned, policy=policy, alpha=alpha)
    limits = check_limits(policy.limits, score(pairing.pairs, "pass"))
    if not readable or _harmed(candidate):
        # Limits are counted over all cases; harm that was proven before does not wait for them.
        limits, screened = Checked((), ()), screened._replace(limits=(), missing=())
    decision = decide(
        faults=comparability.faults,
        missing=[
            *_missing(baseline, candidate, pairing, policy),
            *(f"{name}: no data" for name in limits.without_data),
            *screened.missing,
        ],
        verdicts=verdicts,
        limits=(*limits.results, *screened.limits),
        broken=len(numeric_errors(candidate) - numeric_errors(baseline)),
        numeric_errors=len(numeric_errors(candidate)),
    )
    identical = readable and is_identical(pairing.pairs)
    result = CandidateResult(
        candidate=candidate.header.variant,
        required=required,
        decision=decision.ruling,
        reasons=decision.reasons,
        comparability=comparability,
        verdicts=verdicts,
        limits=(*limits.results, *screened.limits),
        fidelity=screened.fidelity,
        identical=identical,
        notes=(
            *(identity_notes(baseline, candidate) if identical else ()),
            *_level_notes(at, policy),
            *screened.notes,
            *_notes(pairing, verdicts, candidate.header.stopping),
        ),
        confidence=1 - 2 * at.margin,
        unpaired=pairing.unpaired,
    )
    both = OwnChanges(ours.changes("pass"), theirs.changes("pass"))
    return Compared(result, changed_cases(candidate.header.variant, pairing.pairs, Seen(both, screened.divergences)))


def _planned(baseline: Record, pairing: Pairing, policy: Policy, at: Levels) -> tuple[Planned, ...]:
    """Plan the slices over the pairs."""
    planned = plan_slices(pairing.planned, baseline.header.suites, policy)
    return reached(planned, pairing.planned, pairing.pairs) if at.anytime else planned


def _verdicts(
    ours: OwnRecord,
    theirs: OwnRecord,
    pairs: Sequence[Pair],
    policy: Policy,
    *,
    planned: Sequence[Planned],
    at: Levels,
) -> Iterable[Verdict]:
    on_pass = score(pairs, "pass")
    both = OwnChanges(ours.changes("pass"), theirs.changes("pass"))
    verdicts = judge_slices(planned, on_pass, policy, metric="pass", own=both, at=at)
    yield from verdicts
    on_suites = {verdict.slice: verdict for verdict in verdicts if verdict.role == "suite"}
    judged_alike = judge_difference(ours.record.header, theirs.record.header) is None
    for metric in other_metrics(pairs):
        if metric == JUDGE and not judged_alike:
            continue
        scored = score(pairs, metric)
        both = OwnChanges(ours.changes(metric), theirs.changes(metric))
        rows = judge_slices(plan_metric(_by_suite(scored), policy), scored, policy, metric=metric, own=both, at=at)
        yield from (as_passed(row, on_suites.get(row.slice)) for row in rows)


def _by_suite(scored: Sequence[Scored]) -> dict[str, tuple[int, ...]]:
    """Positions by suite, of suites in which both arms were graded at least once."""
    found: dict[str, list[int]] = defaultdict(list)
    for i, one in enumerate(scored):
        found[one.pair.info.suite].append(i)
    return {suite: tuple(at) for suite, at in found.items() if any(scored[i].both for i in at)}


def _missing(baseline: Record, candidate: Record, pairing: Pairing, policy: Policy) -> Iterable[str]:
    for role, record in (("baseline", baseline), ("candidate", candidate)):
        if record.header.state != "complete":
            done, planned = len(record.by_case()), len(record.cases)
            detail = f": {record.header.state_detail}" if record.header.state_detail else ""
            yield f"the {role} {record.header.variant} is {record.header.state}, {done} of {planned} cases done{detail}"
        elif _ended_early(record):
            if role == "baseline":
                yield f"the baseline {record.header.variant} was ended early; run it whole, as a baseline"
        elif len(record.by_case()) < len(record.cases):
            done, planned = len(record.by_case()), len(record.cases)
            what = f"calls itself complete, with {done} of {planned} cases"
            yield f"the {role} {record.header.variant} {what}; run it again"
        held = Counter(info.suite for info in record.cases)
        for suite, info in record.header.suites.items():
            if held[suite] != info.n_cases:
                yield f"the {role}'s record lists {held[suite]} of the {info.n_cases} cases of {suite}; run it again"
    for suite in pairing.missing_suites:
        if policy.level_of(suite) == "critical":
            yield f"suite {suite}: no data, the candidate did not run it"


def _harmed(record: Record) -> bool:
    return record.header.stopping is not None and record.header.stopping.ended == "harm"


def _ended_early(record: Record) -> bool:
    return record.header.stopping is not None and record.header.stopping.ended is not None


def _level_notes(at: Levels, policy: Policy) -> Iterable[str]:
    """Say it where intervals are not at the level that the policy gives, and why."""
    if at.margin != policy.alpha:
        kind = "confidence sequences, which hold at every look" if at.anytime else "alpha is shared out"
        yield f"intervals at {100 * (1 - 2 * at.margin):.3g} %: {kind}"


def _notes(pairing: Pairing, verdicts: Sequence[Verdict], stopping: Stopping | None) -> Iterable[str]:
    if stopping is not None and stopping.ended is not None:
        n = len(pairing.pairs)
        yield f"ended early by {_EVIDENCE[stopping.ended]} after {n} of {len(pairing.planned)} cases"
        if stopping.ended == "harm":
            yield "hard limits were not checked: they are counted over all cases"
    if pairing.missing_suites:
        yield f"partial: the pool leaves out {', '.join(pairing.missing_suites)}, which the candidate did not run"
    if pairing.extra_suites:
        yield f"left out: {', '.join(pairing.extra_suites)}, which the baseline did not run"
    for verdict in verdicts:
        if verdict.role == "suite" and "too_few" in verdict.flags and verdict.level == "advisory":
            yield f"suite {verdict.slice.label} has under 30 cases and does not gate; name it in the policy if it shall"
        if verdict.role == "pool" and "within_noise" in verdict.flags:
            yield "the pairs flip no more often than the two variants flip against themselves when only batches change"
        if verdict.role == "exploratory" and verdict.ruling == "regressed":
            yield f"exploratory slice {verdict.slice.label} ({verdict.metric}) regressed; it does not gate"


def numeric_errors(record: Record) -> set[CaseKey]:
    """Return the cases with NaN or infinite logits, in an answer or while one of the baseline's was scored."""
    answered = {(o.suite, o.case) for o in record.outcomes if o.status == "numeric_error"}
    scored = {(one.suite, one.case) for one in record.scored if one.fault == "numeric_error"}
    return answered | scored
