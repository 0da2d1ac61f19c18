"""From records and a policy to a report: pure, so that the same inputs always give the same report."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from qeval import __version__
from qeval.compare.changed import changed_cases
from qeval.compare.comparability import compare_headers
from qeval.compare.decision import EXIT_CODES, decide, worst
from qeval.compare.identical import copied_answers, identity_notes, is_identical
from qeval.compare.limits import Checked, check_limits
from qeval.compare.pairs import Pairing, Scored, other_metrics, pair_records, score
from qeval.compare.plan import plan_metric, plan_slices
from qeval.compare.policy import Policy, check_candidates
from qeval.compare.report import CandidateResult, ChangedCase, Comparability, Report, Verdict
from qeval.compare.selfcheck import CaseKey, Own, OwnChanges, own_changes, self_faults
from qeval.compare.summary import summarise
from qeval.compare.verdict import judge
from qeval.errors import UsageError
from qeval.record import Record

NOTHING_MISSING: Mapping[str, str] = MappingProxyType({})


class _Compared(NamedTuple):
    result: CandidateResult
    changed: tuple[ChangedCase, ...]


def build_report(
    baseline: Record,
    candidates: Sequence[Record],
    policy: Policy,
    *,
    created_at: str,
    required: Collection[str] | None = None,
    missing: Mapping[str, str] = NOTHING_MISSING,
) -> Report:
    """Compare candidates with their baseline under a policy.

    Args:
        baseline: the record that every candidate is measured against.
        candidates: records of the candidates, in the order to show.
        policy: what the team accepts.
        created_at: time of the report; the clock lives elsewhere.
        required: variants whose decision is the run's; None: as the policy says.
        missing: candidates without a record, each with the reason; their decision is *incomplete*.

    Raises:
        UsageError: no candidate, one given twice, or a required one that is not among them.
    """
    names = (*(record.header.variant for record in candidates), *missing)
    deciding = _deciding(names, policy, required)
    ours = _Own(baseline)
    compared = [_compare(ours, _Own(record), policy, record.header.variant in deciding) for record in candidates]
    results = [
        *(one.result for one in compared),
        *(_absent(name, reason, baseline, name in deciding) for name, reason in missing.items()),
    ]
    decision = worst(result.decision for result in results if result.required)
    return Report(
        created_at=created_at,
        qeval_version=__version__,
        model=baseline.header.model.name,
        model_fingerprint=baseline.header.model.fingerprint,
        baseline=baseline.header.variant,
        decision=decision,
        exit_code=int(EXIT_CODES[decision]),
        variants=tuple(summarise(record) for record in (baseline, *candidates)),
        candidates=tuple(results),
        changed=tuple(case for one in compared for case in one.changed),
        suites={name: info for record in (*candidates, baseline) for name, info in record.header.suites.items()},
        policy=policy.model_dump(mode="json"),
        policy_digest=policy.digest,
        warnings=tuple(_warnings(baseline, candidates)),
    )


class _Own:
    """A record with what it does against itself, worked out once a metric."""

    def __init__(self, record: Record) -> None:
        self.record = record
        self.faults = self_faults(record)
        self._changes: dict[str, dict[CaseKey, Own]] = {}

    def changes(self, metric: str) -> dict[CaseKey, Own]:
        if metric not in self._changes:
            self._changes[metric] = own_changes(self.record, metric)
        return self._changes[metric]


def _deciding(names: Sequence[str], policy: Policy, required: Collection[str] | None) -> set[str]:
    if not names:
        raise UsageError("nothing to compare: give at least one candidate besides the baseline.")
    twice = [name for name, times in Counter(names).items() if times > 1]
    if twice:
        raise UsageError(f"candidate '{twice[0]}' is given twice; compare each variant once.")
    if required is None:
        check_candidates(policy, tuple(names))
        return set(names) if policy.candidates_required == "all" else set(policy.candidates_required)
    unknown = sorted(set(required) - set(names))
    if unknown or not required:
        raise UsageError(f"required candidates {unknown or 'none'}: this run has {', '.join(names)}.")
    return set(required)


def _compare(ours: _Own, theirs: _Own, policy: Policy, required: bool) -> _Compared:
    baseline, candidate = ours.record, theirs.record
    pairing = pair_records(baseline, candidate)
    found = compare_headers(baseline, candidate, pairing.pairs)
    # Pairs that were not shown the same are not pairs: no verdict is drawn from them.
    readable = not found.faults
    copied = copied_answers(baseline, candidate, pairing.pairs) if readable else ()
    comparability = found.model_copy(update={"faults": (*found.faults, *copied, *ours.faults, *theirs.faults)})
    scored = score(pairing.pairs, "pass")
    verdicts = tuple(_verdicts(ours, theirs, scored, policy)) if readable else ()
    limits = check_limits(policy.limits, scored) if readable else Checked((), ())
    errors = _numeric_errors(candidate)
    decision = decide(
        faults=comparability.faults,
        missing=[
            *_missing(baseline, candidate, pairing, policy),
            *(f"{name}: no data" for name in limits.without_data),
        ],
        verdicts=verdicts,
        limits=limits.results,
        numeric_errors=errors,
    )
    identical = readable and is_identical(pairing.pairs)
    result = CandidateResult(
        candidate=candidate.header.variant,
        required=required,
        decision=decision.ruling,
        reasons=decision.reasons,
        comparability=comparability,
        verdicts=verdicts,
        limits=limits.results,
        identical=identical,
        notes=(*(identity_notes(baseline, candidate) if identical else ()), *_notes(pairing, verdicts)),
        unpaired=pairing.unpaired,
    )
    both = OwnChanges(ours.changes("pass"), theirs.changes("pass"))
    return _Compared(result, changed_cases(candidate.header.variant, pairing.pairs, both))


def _verdicts(ours: _Own, theirs: _Own, on_pass: Sequence[Scored], policy: Policy) -> Iterable[Verdict]:
    pairs = [one.pair for one in on_pass]
    planned = plan_slices(pairs, ours.record.header.suites, policy)
    both = OwnChanges(ours.changes("pass"), theirs.changes("pass"))
    yield from judge(planned, on_pass, "pass", policy, both)
    for metric in other_metrics(pairs):
        scored = score(pairs, metric)
        both = OwnChanges(ours.changes(metric), theirs.changes(metric))
        yield from judge(plan_metric(_by_suite(scored), policy), scored, metric, policy, both)


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


def _notes(pairing: Pairing, verdicts: Sequence[Verdict]) -> Iterable[str]:
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


def _numeric_errors(record: Record) -> int:
    return sum(outcome.status == "numeric_error" for outcome in record.outcomes)


def _absent(name: str, reason: str, baseline: Record, required: bool) -> CandidateResult:
    return CandidateResult(
        candidate=name,
        required=required,
        decision="incomplete",
        reasons=(f"no record: {reason}",),
        comparability=Comparability(level=baseline.header.level),
        verdicts=(),
    )


def _warnings(baseline: Record, candidates: Sequence[Record]) -> Iterable[str]:
    for record in (baseline, *candidates):
        yield from (f"{record.header.variant}: {note}" for note in record.header.notes)
    if errors := _numeric_errors(baseline):
        yield f"NaN or infinite logits in {errors} outcomes of the baseline"
    silent = [r.header.variant for r in (baseline, *candidates) if all(outcome.repeat == 0 for outcome in r.outcomes)]
    if silent:
        yield f"no case ran twice in {', '.join(silent)}: how often a variant differs from itself is not known"
