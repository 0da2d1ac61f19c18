"""The main job, from a plan to a report that is written and tracked; and the comparison of stored records."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import NamedTuple

from qeval.compare.build import build_report
from qeval.compare.early import ends
from qeval.compare.policy import Policy
from qeval.compare.power import repeats_for_margin
from qeval.compare.report import Report, SliceKey
from qeval.errors import Incomplete, UsageError
from qeval.record import Reason, Record, load_record
from qeval.reporting.files import write_all
from qeval.reporting.tracking import TrackingResult, push
from qeval.reporting.tracking.address import read_address
from qeval.runner.plan import Plan
from qeval.runner.run import Hooks, VariantRun, Watcher, run_plan


class Tracking(NamedTuple):
    """Where a finished job is tracked; `uri` None means the local store in the run's folder."""

    uri: str | None
    experiment: str


class Job(NamedTuple):
    """A finished job."""

    report: Report
    folder: Path
    written: dict[str, Path]
    """Files of the report by name."""
    tracked: TrackingResult | None


def run_job(
    plan: Plan, policy: Policy, out: Path, watcher: Watcher, *, resume: bool = False, tracking: Tracking | None = None
) -> Job:
    """Run a plan, compare its records, write the reports and track them.

    Raises:
        UsageError: bad input, no candidate, a bad tracking address, or a resume that must be refused.
        Incomplete: the baseline has no record, so there is nothing to compare with.
    """
    refuse_lonely(plan)
    if tracking is not None and tracking.uri is not None:
        read_address(tracking.uri)
    hooks = Hooks(cases_again(plan, policy), _ends_early(policy, len(plan.variants) - 1))
    runs = run_plan(plan, out, watcher, resume=resume, hooks=hooks)
    report = report_on(runs, policy)
    written = write_all(report, out)
    tracked = None
    if tracking is not None:
        tracked = _tracked(out, tracking, policy)
    return Job(report, out, written, tracked)


def cases_again(plan: Plan, policy: Policy) -> dict[str, int]:
    """Return how many cases of each suite run again.

    With repeats, as many as show that the margins of the suite and of the pool stand above the noise; else the
    share of the self-check.
    """
    if not plan.file.repeats:
        return plan.self_checked
    pool = repeats_for_margin(plan.n_cases, policy.margins.pool, policy.alpha) / plan.n_cases
    again = {}
    for suite in plan.suites:
        n = len(suite.cases)
        own = repeats_for_margin(n, policy.margin_of(SliceKey(suite=suite.name), n), policy.alpha)
        again[suite.name] = max(own, math.ceil(pool * n))
    return again


def _ends_early(policy: Policy, candidates: int) -> Callable[[Path, Path], Reason | None]:
    """Return what looks at a running candidate; the baseline is read once."""
    load_baseline = cache(load_record)

    def ends_early(baseline: Path, candidate: Path) -> Reason | None:
        return ends(load_baseline(baseline), load_record(candidate), policy, candidates)

    return ends_early


def _tracked(out: Path, tracking: Tracking, policy: Policy) -> TrackingResult:
    """Track a finished run; whatever hinders it is a warning, since the results are there."""
    try:
        return push(out, tracking.uri, tracking.experiment, policy.privacy)
    except UsageError as error:
        return TrackingResult(False, None, None, f"not tracked: {error}")


def refuse_lonely(plan: Plan) -> None:
    """Raise UsageError where a plan has no candidate."""
    if len(plan.variants) < 2:
        raise UsageError(
            f"{plan.baseline.name} alone leaves nothing to compare. Name a candidate too: "
            f"--variants {plan.baseline.name},nf4 (`qeval formats` lists what can load here)"
        )


def report_on(runs: Sequence[VariantRun], policy: Policy) -> Report:
    """Compare the first of the runs, the baseline, with all others."""
    baseline, *candidates = runs
    if not baseline.has_record:
        raise Incomplete(f"the baseline {baseline.name} has no result: {baseline.ended.state}, {baseline.ended.detail}")
    missing = {run.name: f"{run.ended.state}: {run.ended.detail}" for run in candidates if not run.has_record}
    records = [load_record(run.folder) for run in candidates if run.has_record]
    return build_report(load_record(baseline.folder), records, policy, created_at=now(), missing=missing)


def compare_folders(baseline: Path, candidates: Sequence[Path], policy: Policy, *, allow_same: bool = False) -> Report:
    """Compare stored records; no model and no torch is needed.

    Args:
        baseline: folder of the baseline's record.
        candidates: folders of the candidates' records.
        policy: what the team accepts.
        allow_same: compare a variant with itself.

    Raises:
        UsageError: a folder holds no record, or the baseline's; or two candidates have one name.
    """
    for folder in candidates:
        if folder.exists() and baseline.exists() and folder.samefile(baseline):
            raise UsageError(f"{folder}: the same record as the baseline. Name the record of a candidate.")
    records: list[Record] = [load_record(folder) for folder in (baseline, *candidates)]
    names = [record.header.variant for record in records]
    twice = sorted({name for name in names[1:] if names[1:].count(name) > 1})
    if twice:
        raise UsageError(f"two candidates are named '{twice[0]}'; compare them one at a time.")
    return build_report(records[0], records[1:], policy, created_at=now(), allow_same=allow_same)


def now() -> str:
    """Return the time as reports state it, UTC to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")
