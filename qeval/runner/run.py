"""Run a plan: every variant in turn, baseline first, into the records of one folder.

::

    DIR/plan.json            what is run, with digests; a resume is refused where it differs but for further candidates
    DIR/records/<variant>/   one record each; failure.json where a variant ended before it had one
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple, Protocol

from qeval.errors import UsageError
from qeval.jsonl import dumps, write_atomic
from qeval.models.identity import fingerprint
from qeval.models.locate import resolve
from qeval.models.resolved import ResolvedModel
from qeval.record import (
    RECORD_FILE,
    DamagedRecord,
    Reason,
    changed_files,
    folder_name,
    load_header,
    load_record,
    save_header,
)
from qeval.runner.claim import RECORDS_FOLDER, claim, identity_of, only_writer
from qeval.runner.judge_endpoint import open_endpoint
from qeval.runner.judging import judge_records
from qeval.runner.plan import Plan, PlannedVariant
from qeval.runner.process import Ended, run_in_process
from qeval.runner.task import Said, Task

FAILURE_FILE = "failure.json"


class Watcher(Protocol):
    """Shows progress; told of everything that happens while a plan runs."""

    def said_of_models(self, text: str) -> None:
        """A model is being found, fetched or converted."""

    def said_of_judge(self, text: str) -> None:
        """The judge is asked, or has graded a record."""

    def warned(self, text: str) -> None:
        """Something is not as it should be; the run goes on."""

    def variant_started(self, name: str) -> None:
        """A variant's process was started."""

    def heard(self, name: str, said: Said) -> None:
        """A variant's process said something."""

    def variant_ended(self, name: str, ended: Ended) -> None:
        """A variant's process ended."""


class VariantRun(NamedTuple):
    """Where a variant's record lies, and how its process ended."""

    name: str
    folder: Path
    ended: Ended
    stood: bool = False
    """Whether the record was whole before."""

    @property
    def has_record(self) -> bool:
        """Whether there is a record to compare, complete or not."""
        return (self.folder / RECORD_FILE).exists()


class Hooks(NamedTuple):
    """What a run needs to know of the comparison that it is made for."""

    again: Mapping[str, int] | None = None
    """Cases of each suite that run again; None: the plan's share for the self-check."""
    ends_early: Callable[[Path, Path], Reason | None] | None = None
    """Whether the candidate's record so far ends its run: folders of the baseline and the candidate."""


NO_HOOKS = Hooks()


def run_plan(
    plan: Plan, out: Path, watcher: Watcher, *, resume: bool = False, hooks: Hooks = NO_HOOKS
) -> list[VariantRun]:
    """Run every variant of a plan; one that fails costs only itself.

    Args:
        plan: the checked plan.
        out: folder of the run.
        watcher: shows progress.
        resume: finish an interrupted run of the same plan, or add candidates to it.
        hooks: what the comparison asks of the run.

    Raises:
        UsageError: the folder holds another run, or a resume must be refused.
        KeyboardInterrupt: after the running variant was ended and marked as interrupted.
    """
    endpoint = open_endpoint(plan.file.judge) if plan.file.judge else None
    models = _resolve_models(plan, watcher)
    fingerprints = {name: fingerprint(model.path) if model else None for name, model in models.items()}
    out.mkdir(parents=True, exist_ok=True)
    with only_writer(out):
        again = dict(plan.self_checked if hooks.again is None else hooks.again)
        claim(out, identity_of(plan, fingerprints, again), resume=resume)
        runs: list[VariantRun] = []
        for variant in plan.variants:
            task = task_of(plan, variant, models[variant.model], out, resume=resume)._replace(again=again)
            task = _beside(task, runs[0], hooks) if runs else task._replace(stop_on=())
            runs.append(_run_variant(task, hooks, plan.file.time_limit_s, watcher))
        if plan.file.judge is not None and endpoint is not None:
            folders = [run.folder for run in runs if run.has_record]
            judge_records(folders, plan.suites, plan.file.judge.model, endpoint, watcher.said_of_judge)
        return runs


def task_of(plan: Plan, variant: PlannedVariant, model: ResolvedModel | None, out: Path, *, resume: bool) -> Task:
    """Return what a variant's process is told, but for what the baseline's record and the comparison add."""
    return Task(
        folder=out / RECORDS_FOLDER / folder_name(variant.name),
        name=variant.name,
        spec=variant.spec,
        model=model,
        suites=plan.suites,
        device=plan.device,
        threads=plan.threads,
        batch_size=plan.file.batch_size,
        batch_tokens=plan.file.batch_tokens,
        again=plan.self_checked,
        repeats=plan.passes_again,
        repeat_threads=plan.file.repeat_threads,
        in_waves=bool(plan.stop_on),
        stop_on=plan.stop_on,
        seed=plan.file.seed,
        head=plan.file.head,
        temperature=plan.file.temperature,
        samples=plan.file.samples,
        fidelity=plan.measures_fidelity,
        reverse_kl=plan.file.reverse_kl,
        decode=plan.file.decode,
        baseline=None,
        script=plan.script,
        resume=resume,
    )


def _beside(task: Task, baseline: VariantRun, hooks: Hooks) -> Task:
    """Return what a candidate's process is told of the baseline."""
    task = task._replace(baseline=baseline.folder)
    if baseline.ended.state != "complete" or hooks.ends_early is None:
        # There is nothing to compare a candidate with before the baseline is whole.
        task = task._replace(stop_on=())
    if baseline.ended.state == "complete" and not baseline.stood and _has_no_fidelity(task):
        # It answered beside a baseline that was not whole, and what it lacks cannot be added to it.
        task = task._replace(resume=False)
    return task


def _run_variant(task: Task, hooks: Hooks, time_limit_s: float | None, watcher: Watcher) -> VariantRun:
    task.folder.mkdir(parents=True, exist_ok=True)
    (task.folder / FAILURE_FILE).unlink(missing_ok=True)
    if task.resume:
        _set_aside_damaged_header(task, watcher)
    if task.resume and _is_whole(task, hooks):
        ended = Ended("complete", "")
        watcher.variant_ended(task.name, ended)
        return VariantRun(task.name, task.folder, ended, stood=True)
    watcher.variant_started(task.name)
    try:
        ended = run_in_process(
            task,
            lambda said: watcher.heard(task.name, said),
            lambda: _ends(task, hooks),
            time_limit_s,
            time.monotonic,
        )
    except KeyboardInterrupt:
        _mark(task.folder, Ended("interrupted", "interrupted from the keyboard"))
        raise
    if ended.usage:
        raise UsageError(f"{task.name}: {ended.detail}")
    if ended.state != "complete":
        _mark(task.folder, ended)
    watcher.variant_ended(task.name, ended)
    return VariantRun(task.name, task.folder, ended)


def _is_whole(task: Task, hooks: Hooks) -> bool:
    """Whether a record says that it is complete, and holds an outcome of every case or still ends before that."""
    if not (task.folder / RECORD_FILE).exists() or load_header(task.folder).state != "complete":
        return False
    try:
        header, _, outcomes, _ = load_record(task.folder)
    except DamagedRecord:
        return False
    if changed_files(task.folder, header):
        return False
    first = sum(outcome.repeat == 0 for outcome in outcomes)
    if first == sum(len(suite.cases) for suite in task.suites):
        return True
    ended = header.stopping is not None and header.stopping.ended is not None
    # The more candidates a run has, the more evidence each of them needs: what ended one may not suffice any longer.
    # Beside a baseline that is not whole there is nothing to ask.
    return ended and (not task.stop_on or _ends(task, hooks) is not None)


def _set_aside_damaged_header(task: Task, watcher: Watcher) -> None:
    """Rename a header that is not what was written: nothing says which run it is of, so its variant runs anew."""
    try:
        if (task.folder / RECORD_FILE).exists():
            load_header(task.folder)
    except DamagedRecord as error:
        (task.folder / RECORD_FILE).replace(task.folder / f"{RECORD_FILE}.damaged")
        watcher.warned(f"{task.name} runs again from its first case: {error}")


def _has_no_fidelity(task: Task) -> bool:
    record = task.folder / RECORD_FILE
    return task.fidelity and record.exists() and load_header(task.folder).fidelity is None


def _ends(task: Task, hooks: Hooks) -> Reason | None:
    return hooks.ends_early(task.baseline, task.folder) if hooks.ends_early and task.baseline else None


def _mark(folder: Path, ended: Ended) -> None:
    """Write down how a variant ended: in its record, or beside where the record would be."""
    if (folder / RECORD_FILE).exists():
        header = load_header(folder)
        save_header(folder, header.model_copy(update={"state": ended.state, "state_detail": ended.detail}))
    else:
        write_atomic(folder / FAILURE_FILE, dumps({"state": ended.state, "detail": ended.detail}, indent=1) + "\n")


def _resolve_models(plan: Plan, watcher: Watcher) -> dict[str, ResolvedModel | None]:
    if plan.file.engine == "scripted":
        return {variant.model: None for variant in plan.variants}
    names = {variant.model for variant in plan.variants}
    return {
        name: resolve(
            name,
            allow_remote_code=plan.file.allow_remote_code,
            allow_pickle=plan.file.allow_pickle,
            progress=watcher.said_of_models,
        )
        for name in sorted(names)
    }
