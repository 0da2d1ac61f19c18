"""A process that grades what may not end, so that it can be ended.

It is started when it is first needed, holds no model and no torch, and ends with its parent. Its limit is processor
time, kept by the system, so that it holds inside any library and does not depend on what else the machine does.
"""

from __future__ import annotations

import atexit
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from typing import Any

GRADING_LIMIT_S = 10.0
"""Processor time that one grade may take, in seconds. A usual one takes a thousandth of a second, and the first in a
language two seconds, since its models are loaded."""
_CLOCK_LIMIT_S = 300.0
"""Time on the clock after which a worker is ended that uses no processor time, or far too little."""
_SERVE = "from qeval.grading._worker import serve; serve({})"


class TookTooLongError(Exception):
    """A job took more processor time than it may, and was ended."""


class WorkerEndedError(Exception):
    """The worker ended or could not be started; the message says how."""


class Worker:
    """The one worker of this process."""

    def __init__(self, limit_s: float = GRADING_LIMIT_S, clock_limit_s: float = _CLOCK_LIMIT_S) -> None:
        """Prepare; nothing is started.

        Args:
            limit_s: processor time of one job, in seconds.
            clock_limit_s: time on the clock of one job, in seconds.
        """
        self.limit_s = limit_s
        self.clock_limit_s = clock_limit_s
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._connection: Connection | None = None

    def run(self, function: Callable[..., Any], *arguments: Any) -> Any:  # noqa: ANN401 - whatever the function returns
        """Call a function of a module in the worker.

        Raises:
            TookTooLongError: it was ended.
            WorkerEndedError: it ended by itself, or no process can be started.
        """
        with self._lock:
            try:
                connection = self._connected()
                connection.send((self.limit_s, function, arguments))
                if not connection.poll(self.clock_limit_s):
                    self._end()
                    raise TookTooLongError(f"no answer for {self.clock_limit_s:g} s")
                return connection.recv()
            except (EOFError, ConnectionError) as error:
                raise self._how_it_ended() from error
            except OSError as error:
                raise WorkerEndedError(f"no process can be started to grade in ({error})") from error
            except BaseException:
                # Whatever it still computes must not be taken for the answer to a later job.
                self._end()
                raise

    def close(self) -> None:
        """End the worker, if there is one."""
        with self._lock:
            self._end()

    def _connected(self) -> Connection:
        if self._connection is not None and self._process is not None and self._process.poll() is None:
            return self._connection
        self._end()
        ours, theirs = Pipe()
        # Every place that this process imports from, since it need not be the same that Python finds by itself.
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-c", _SERVE.format(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env=environment,
                pass_fds=(theirs.fileno(),),
            )
        except OSError:
            ours.close()
            raise
        finally:
            theirs.close()
        self._connection = ours
        return ours

    def _how_it_ended(self) -> Exception:
        code = self._process.wait() if self._process is not None else None
        self._end()
        if code == -signal.SIGPROF:
            return TookTooLongError(f"it takes more than {self.limit_s:g} s of processor time")
        how = f"signal {-code} ({signal.strsignal(-code)})" if code is not None and code < 0 else f"exit code {code}"
        return WorkerEndedError(f"the process that graded it ended with {how}")

    def _end(self) -> None:
        if self._connection is not None:
            self._connection.close()
        if self._process is not None:
            self._process.kill()
            self._process.wait()
        self._connection = self._process = None


WORKER = Worker()
atexit.register(WORKER.close)


def serve(descriptor: int) -> None:
    """Do the jobs that come through a connection until it closes."""
    # A Ctrl-C is for the parent, whose end closes the connection.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    connection = Connection(descriptor)
    while True:
        try:
            limit_s, function, arguments = connection.recv()
        except (EOFError, ConnectionError):
            return
        # What the system does when this much is used up is to end the process, in the middle of whatever it is doing.
        signal.setitimer(signal.ITIMER_PROF, limit_s)
        answer = function(*arguments)
        signal.setitimer(signal.ITIMER_PROF, 0)
        connection.send(answer)
