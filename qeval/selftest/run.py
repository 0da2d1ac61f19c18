"""Plant damage and faults in the embedded model, run them as `qeval run` does, and see what the gate says."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

from qeval.compare.policy import Policy
from qeval.errors import UsageError
from qeval.job import report_on
from qeval.models.locate import resolve
from qeval.record import load_record, save_record
from qeval.reporting.files import write_all
from qeval.runner.claim import RECORDS_FOLDER
from qeval.runner.plan import PlanFile, resolve_plan
from qeval.runner.run import VariantRun, Watcher, run_plan
from qeval.selftest.cases import write_suite
from qeval.selftest.faults import with_answers_of
from qeval.selftest.planted import BASELINE, MODEL, QUANTIZED, Arm, Planted, arms
from qeval.selftest.rows import Row, make_row
from qeval.selftest.stopping import stopped_at

BATCH_SIZE = 128


def run_selftest(out: Path, watcher: Watcher, *, quick: bool = False) -> list[Row]:
    """Run everything planted and return a row for each.

    Args:
        out: a new or empty folder; keeps records and reports, not the damaged copies of the model.
        watcher: shows progress.
        quick: fewer cases.

    Raises:
        UsageError: the folder is not empty, or the model cannot be fetched.
        Incomplete: the undamaged model itself has no result.
    """
    if out.exists() and any(out.iterdir()):
        raise UsageError(f"{out} is not empty. Choose another --out; a self-test starts afresh.")
    out.mkdir(parents=True, exist_ok=True)
    model = resolve(MODEL, progress=watcher.said_of_models).path
    with tempfile.TemporaryDirectory(dir=out, prefix=".models-") as copies:
        watcher.said_of_models(f"damaged copies of {MODEL} lie in {copies} until the self-test ends")
        return [row for arm in arms(quick=quick) for row in _run(arm, model, Path(copies), out / arm.name, watcher)]


def _run(arm: Arm, model: Path, copies: Path, folder: Path, watcher: Watcher) -> list[Row]:
    """Run the baseline and all that an arm holds over its cases; write the reports, and return a row for each."""
    entries = [one.entry(model, copies) for one in arm.planted if not one.cached]
    plan = PlanFile(
        model=MODEL,
        variants=(BASELINE, *entries, *arm.more),
        baseline=BASELINE,
        suites=(str(write_suite(folder / "suite", arm.each)),),
        batch_size=BATCH_SIZE,
        # What is tested is what the gate says, which fidelity has no part in, nor how answers are found.
        fidelity=False,
        decode="plain",
    )
    runs = run_plan(resolve_plan(plan), folder, watcher)
    runs += [_from_a_cache(one.name, runs, folder / RECORDS_FOLDER) for one in arm.planted if one.cached]
    return rows_of(arm.planted, runs, folder)


def _from_a_cache(name: str, runs: Sequence[VariantRun], folder: Path) -> VariantRun:
    """Write a record with a quantised variant's header and proof, and the baseline's answers."""
    baseline, quantized = runs[0], next(run for run in runs if run.name == QUANTIZED)
    cached = VariantRun(name, folder / name, quantized.ended)
    if quantized.has_record and baseline.has_record:
        made = with_answers_of(load_record(baseline.folder), load_record(quantized.folder), name)
        save_record(cached.folder, made)
    return cached


def rows_of(planted: Sequence[Planted], runs: Sequence[VariantRun], folder: Path) -> list[Row]:
    """Compare the runs, the baseline first, under the built-in policy; write the reports; return a row a planted one.

    Raises:
        Incomplete: the baseline has no record.
    """
    policy = Policy()
    report = report_on(runs, policy)
    write_all(report, folder)
    baseline = load_record(runs[0].folder)
    rows = []
    for one in planted:
        run = next(run for run in runs if run.name == one.name)
        candidate = load_record(run.folder) if run.has_record else None
        rows.append(make_row(one, report, stopped_at(baseline, candidate, policy.alpha), policy.alpha))
    return rows
