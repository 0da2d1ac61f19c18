"""Runs scripted variants and pre-flights in the test's own process, since a process costs a second to start."""

from __future__ import annotations

import time
from collections.abc import Callable

from qeval.errors import QevalError, UsageError
from qeval.runner.answer import run_task
from qeval.runner.preflight import PreflightTask, run_preflight
from qeval.runner.process import Clock, Ended, EndsEarly, run_in_process
from qeval.runner.task import Said, Task


def run_here(
    task: Task | PreflightTask,
    hear: Callable[[Said], None],
    ends_early: EndsEarly,
    time_limit_s: float | None,
    clock: Clock,
) -> Ended:
    """Do what `run_in_process` does, here; a script that crashes or hangs gets a real process all the same."""
    if isinstance(task, PreflightTask):
        return _preflight_here(task, hear)
    script = task.script.read_text(encoding="utf-8") if task.script else ""
    if "crash_at" in script or "hang_at" in script:
        return run_in_process(task, hear, ends_early, time_limit_s, clock)
    try:
        run_task(task, hear, ends_early, time.perf_counter)
    except QevalError as error:
        return Ended("unsupported", str(error), isinstance(error, UsageError))
    return Ended("complete", "")


def _preflight_here(task: PreflightTask, hear: Callable[[Said], None]) -> Ended:
    try:
        hear(run_preflight(task))
    except QevalError as error:
        return Ended("unsupported", str(error), isinstance(error, UsageError))
    return Ended("complete", "")
