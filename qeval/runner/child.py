"""The process of a variant: its surroundings, and how it ends.

It is started fresh for one variant and ends with it. What libraries print goes to the record's log.txt. When the
parent dies, it dies too, so that a resumed run never meets an older writer.
"""

from __future__ import annotations

import fcntl
import os
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import connection
from pathlib import Path

from qeval import streams
from qeval.clean import clean, hide_variables, without_credentials
from qeval.errors import QevalError, UsageError, is_out_of_memory
from qeval.parent import die_with_parent
from qeval.record import Reason
from qeval.runner.answer import run_task
from qeval.runner.judge_endpoint import KEY_VARIABLE
from qeval.runner.preflight import PreflightTask, run_preflight
from qeval.runner.task import Done, Failed, Look, Task

PREFLIGHT_LOG = "preflight-log.txt"
"""What libraries print in the pre-flight, beside the plan."""
_WRITER_WAIT_S = 60.0


def main(task: Task | PreflightTask, pipe: connection.Connection) -> None:
    """Run one variant, or the pre-flight, to its end and say how it went; the entry point of the spawned process."""
    die_with_parent()
    # bitsandbytes prints a line per matmul on CPU.
    streams.redirect(task.folder / ("log.txt" if isinstance(task, Task) else PREFLIGHT_LOG), clean)
    hide_variables()
    # The judge is asked by the parent; no library here needs to know its key.
    os.environ.pop(KEY_VARIABLE, None)
    _set_environment(task.threads)
    try:
        if isinstance(task, Task):
            with _only_writer(task.folder):
                run_task(task, pipe.send, lambda: _ask(pipe), time.perf_counter)
        else:
            pipe.send(run_preflight(task))
        pipe.send(Done())
    except UsageError as error:
        pipe.send(Failed("unsupported", str(error), usage=True))
    except QevalError as error:
        pipe.send(Failed("unsupported", without_credentials(str(error))))
    except (BrokenPipeError, EOFError):
        os._exit(1)
    except Exception as error:  # noqa: BLE001 - the process boundary: told to the parent, with its traceback in the log
        traceback.print_exc()
        if is_out_of_memory(error):
            pipe.send(Failed("out_of_memory", without_credentials(str(error)) or "the process ran out of memory"))
        else:
            pipe.send(Failed("crashed", without_credentials(f"{type(error).__name__}: {error}")))


def _ask(pipe: connection.Connection) -> Reason | None:
    pipe.send(Look())
    reply: Reason | None = pipe.recv()
    return reply


@contextmanager
def _only_writer(folder: Path) -> Iterator[None]:
    """Hold the record's lock; wait for a writer whose parent was killed, which ends at its next message."""
    with (folder / ".lock").open("w") as lock:
        deadline = time.monotonic() + _WRITER_WAIT_S
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > deadline:
                    raise UsageError(
                        f"{folder}: another process is writing this record; wait for it or end it."
                    ) from None
                time.sleep(0.2)
        yield


def _set_environment(threads: int) -> None:
    """Set what libraries read when they are first imported.

    Waiting OpenMP threads spin for some microseconds and then sleep: spinning on, as they do by default, a batch that
    took 8 s took 128 s where other processes shared the cores; not spinning at all costs a tenth of each decode step
    (docs/log.md).
    """
    os.environ.update({"OMP_NUM_THREADS": str(threads), "TOKENIZERS_PARALLELISM": "false"})
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    os.environ.setdefault("GOMP_SPINCOUNT", "10000")
