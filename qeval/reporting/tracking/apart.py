"""Storing in a process of its own: time-outs of MLflow are of each read, and only a process can surely be ended."""

from __future__ import annotations

import multiprocessing
import os
from multiprocessing import connection
from pathlib import Path
from typing import NamedTuple

from qeval.errors import UsageError
from qeval.parent import die_with_parent
from qeval.reporting.tracking.content import Tracked
from qeval.reporting.tracking.store import Stored, failures, load_mlflow, store
from qeval.streams import redirect

LOAD_S = 120.0
"""Longest time for loading MLflow, which takes some seconds on a quiet machine."""


class StoreFailed(Exception):
    """A store could not be reached, opened or written in time; the message is the reason."""


class Job(NamedTuple):
    """What is stored where."""

    uri: str
    experiment: str
    content: Tracked
    artifacts: str | None


class _Loaded(NamedTuple):
    """MLflow is loaded; from here on the store's time counts."""


class _Refused(NamedTuple):
    """A person must mend something."""

    reason: str


class _Failed(NamedTuple):
    reason: str


def store_apart(job: Job, limit_s: float) -> Stored:
    """Store a job within some seconds, loading MLflow not counted.

    Raises:
        UsageError: the experiment cannot be used.
        StoreFailed: the store did not take it, or not in time.
    """
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_main, args=(job, theirs), name="qeval tracking")
    try:
        process.start()
        theirs.close()
        said = _hear(ours, LOAD_S, f"MLflow was not loaded within {LOAD_S:g} s")
        if isinstance(said, _Loaded):
            said = _hear(ours, limit_s, f"it did not take everything within {limit_s:g} s")
    finally:
        if process.pid is not None:
            process.kill()
            process.join()
        ours.close()
    if isinstance(said, Stored):
        return said
    if isinstance(said, _Refused):
        raise UsageError(said.reason)
    raise StoreFailed(said.reason if isinstance(said, _Failed) else "the process that sends it ended early")


def _hear(pipe: connection.Connection, wait_s: float, late: str) -> object:
    if not pipe.poll(wait_s):
        return _Failed(late)
    try:
        return pipe.recv()
    except (EOFError, OSError):
        return None


def _main(job: Job, pipe: connection.Connection) -> None:
    """Store, and say how it went; the entry point of the process."""
    die_with_parent()
    redirect(Path(os.devnull), str)
    said: Stored | _Refused | _Failed
    try:
        load_mlflow()
        pipe.send(_Loaded())
        said = store(job.uri, job.experiment, job.content, job.artifacts)
    except UsageError as error:
        said = _Refused(str(error))
    except Exception as error:  # noqa: BLE001 - the process boundary: the reason is told to the parent
        name = "" if isinstance(error, failures()) else f"{type(error).__name__}: "
        said = _Failed(f"{name}{error}" if str(error).strip() else type(error).__name__)
    pipe.send(said)
