"""From records and a policy to a report: pure, so that the same inputs always give the same report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from types import MappingProxyType

from qeval import __version__
from qeval.compare.candidate import OwnRecord, compare_candidate, numeric_errors
from qeval.compare.comparability import same_variant
from qeval.compare.decision import EXIT_CODES, pick, worst
from qeval.compare.judged import judge_notes
from qeval.compare.policy import Policy, check_candidates
from qeval.compare.report import CandidateResult, Comparability, Report
from qeval.compare.summary import summarise
from qeval.errors import UsageError
from qeval.record import Record

NOTHING_MISSING: Mapping[str, str] = MappingProxyType({})


def build_report(
    baseline: Record,
    candidates: Sequence[Record],
    policy: Policy,
    *,
    created_at: str,
    required: Collection[str] | None = None,
    missing: Mapping[str, str] = NOTHING_MISSING,
    allow_same: bool = False,
) -> Report:
    """Compare candidates with their baseline under a policy.

    Args:
        baseline: the record that every candidate is measured against.
        candidates: records of the candidates, in the order to show.
        policy: what the team accepts.
        created_at: time of the report; the clock lives elsewhere.
        required: variants whose decision is the run's; None: as the policy says.
        missing: candidates without a record, each with the reason; their decision is *incomplete*.
        allow_same: compare a variant with itself, as a test of noise or of another library version.

    Raises:
        UsageError: no candidate, one given twice, or a required one that is not among them.
    """
    names = (*(record.header.variant for record in candidates), *missing)
    deciding = _deciding(names, policy, required)
    ours = OwnRecord(baseline)
    alpha = policy.alpha_of(len(names))
    compared = [
        compare_candidate(
            ours,
            OwnRecord(record),
            policy,
            alpha,
            required=record.header.variant in deciding,
            faults=() if allow_same else same_variant(baseline.header, record.header),
        )
        for record in candidates
    ]
    results = [
        *(one.result for one in compared),
        *(_absent(name, reason, baseline, name in deciding) for name, reason in missing.items()),
    ]
    if policy.candidates_required == "best":
        picked = pick(results, [record.header for record in candidates])
        decision = picked.ruling
    else:
        picked = None
        decision = worst(result.decision for result in results if result.required)
    return Report(
        created_at=created_at,
        qeval_version=__version__,
        model=baseline.header.model.name,
        model_fingerprint=baseline.header.model.fingerprint,
        baseline=baseline.header.variant,
        decision=decision,
        exit_code=int(EXIT_CODES[decision]),
        picked=picked and picked.candidate,
        variants=tuple(summarise(record) for record in (baseline, *candidates)),
        candidates=tuple(results),
        changed=tuple(case for one in compared for case in one.changed),
        suites={name: info for record in (*candidates, baseline) for name, info in record.header.suites.items()},
        policy=policy.model_dump(mode="json"),
        policy_digest=policy.digest,
        warnings=tuple(_warnings(baseline, candidates)),
    )


def _deciding(names: Sequence[str], policy: Policy, required: Collection[str] | None) -> set[str]:
    if not names:
        raise UsageError("nothing to compare: give at least one candidate besides the baseline.")
    twice = [name for name, times in Counter(names).items() if times > 1]
    if twice:
        raise UsageError(f"candidate '{twice[0]}' is given twice; compare each variant once.")
    if required is None:
        check_candidates(policy, tuple(names))
        by_name = isinstance(policy.candidates_required, tuple)
        return set(policy.candidates_required) if by_name else set(names)
    unknown = sorted(set(required) - set(names))
    if unknown or not required:
        raise UsageError(f"required candidates {unknown or 'none'}: this run has {', '.join(names)}.")
    return set(required)


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
        yield from judge_notes(record)
    if errors := len(numeric_errors(baseline)):
        yield f"NaN or infinite logits in {errors} cases of the baseline"
    silent = [r.header.variant for r in (baseline, *candidates) if all(outcome.repeat == 0 for outcome in r.outcomes)]
    if silent:
        yield f"no case ran twice in {', '.join(silent)}: how often a variant differs from itself is not known"
