"""Jobs that do not end, or end their process; in a module of their own, so that a worker imports nothing else."""

from __future__ import annotations

import os
import signal
import sys
import time


def hang() -> None:
    """Compute without end, in Python."""
    while True:
        sum(range(1_000_000))


def hang_in_c() -> int:
    """Compute without end inside one operation."""
    number: int = 3 ** (10**9)
    return number


def wait() -> None:
    """Use no processor time."""
    time.sleep(60)


def crash() -> None:
    """End as a fault in a library ends a process."""
    os.kill(os.getpid(), signal.SIGSEGV)


def fail() -> None:
    """Raise what nobody catches."""
    raise ValueError


def process() -> tuple[int, list[str]]:
    """Return who answers, and which large packages it holds."""
    return os.getpid(), [name for name in ("torch", "transformers", "mlflow", "pandas") if name in sys.modules]
