"""One fresh process a variant, watched by a sleeping parent.

Spawned, never forked: nothing of the parent is inherited, so peak memory is the variant's own. The parent waits
in the kernel for a message, the child's end, or the time limit; it uses no core while the child is timed.
"""

from __future__ import annotations

import multiprocessing
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing import connection
from typing import NamedTuple

from qeval.record import Reason, State
from qeval.runner.child import main
from qeval.runner.preflight import PreflightTask
from qeval.runner.task import Done, Failed, Look, Said, Task

Clock = Callable[[], float]
EndsEarly = Callable[[], Reason | None]
_END_WAIT_S = 10.0


class Ended(NamedTuple):
    """How a variant's process ended."""

    state: State
    detail: str
    usage: bool = False
    """The person must mend something: bad input, or a resume that was refused."""


InProcess = Callable[["Task | PreflightTask", Callable[[Said], None], EndsEarly, "float | None", Clock], Ended]
"""Runs a task in a process of its own; see `run_in_process`."""


def run_in_process(
    task: Task | PreflightTask,
    hear: Callable[[Said], None],
    ends_early: EndsEarly,
    time_limit_s: float | None,
    clock: Clock,
) -> Ended:
    """Run a variant, or the pre-flight, in a process of its own and return how it ended.

    Only KeyboardInterrupt is raised.

    Args:
        task: what to run.
        hear: called with each message of the child, but its last.
        ends_early: called when the child waits to be told whether what it stored ends its run.
        time_limit_s: seconds after which the child is ended; None for no limit.
        clock: seconds, monotonic.
    """
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=main, args=(task, theirs), name=f"qeval {task.name}", daemon=True)
    with _interrupt_is_ours():
        process.start()
    theirs.close()
    deadline = None if time_limit_s is None else clock() + time_limit_s
    try:
        said = _listen(_Line(ours, process.sentinel, ends_early), hear, deadline, clock)
    finally:
        if process.is_alive():
            process.join(0.5)
        if process.is_alive():
            process.terminate()
            process.join(_END_WAIT_S)
        if process.is_alive():
            process.kill()
            process.join()
        ours.close()
    if said == "timeout":
        return Ended("timeout", f"took longer than the time limit of {time_limit_s:g} s and was ended")
    if isinstance(said, Failed):
        return Ended(said.state, said.detail, said.usage)
    if isinstance(said, Done):
        return Ended("complete", "")
    return Ended("crashed", _how_it_died(process.exitcode))


@contextmanager
def _interrupt_is_ours() -> Iterator[None]:
    """Let a child that is started here ignore Ctrl-C, which reaches the whole group: the parent ends it."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


class _Line(NamedTuple):
    """The way to a child."""

    pipe: connection.Connection
    sentinel: int
    ends_early: EndsEarly


def _listen(line: _Line, hear: Callable[[Said], None], deadline: float | None, clock: Clock) -> Said | str | None:
    """Pass messages on until the last one; None where the child died without one."""
    while True:
        wait_s = None if deadline is None else max(0.0, deadline - clock())
        # The child's end too: a grandchild that outlives it would hold the pipe open.
        if not connection.wait([line.pipe, line.sentinel], wait_s):
            return "timeout"
        try:
            if not line.pipe.poll():
                return None
            message = line.pipe.recv()
        except (EOFError, OSError):
            return None
        if isinstance(message, Done | Failed):
            return message
        if isinstance(message, Look):
            reason = line.ends_early()
            try:
                line.pipe.send(reason)
            except OSError:  # the child died while it waited
                return None
        else:
            hear(message)


def _how_it_died(exit_code: int | None) -> str:
    if exit_code is None or exit_code >= 0:
        return f"the process ended with status {exit_code} before it was done; see log.txt of its record"
    name = signal.Signals(-exit_code).name
    hint = ", most often the system's out-of-memory killer" if name == "SIGKILL" else "; see log.txt of its record"
    return f"the process was ended by {name}{hint}"
