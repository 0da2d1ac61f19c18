"""A time limit for work as a whole. Time-outs of sockets are of each read, so a server that drips never meets them."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def within(seconds: float, work: Callable[[], T], give_up: Callable[[], object]) -> T:
    """Do something in a thread of its own and return its result, or raise its exception.

    Looking up a name and reading a socket cannot be interrupted, so at the deadline the thread is left alone: it ends
    when what it waits for does, at the latest with this process.

    Args:
        seconds: how long it may take.
        work: what to do.
        give_up: called at the deadline, to close what the work waits for.

    Raises:
        TimeoutError: the deadline passed.
    """
    done: list[T] = []
    failed: list[BaseException] = []

    def run() -> None:
        try:
            done.append(work())
        except BaseException as error:  # noqa: BLE001 - raised again in the caller's thread
            failed.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(max(0.0, seconds))
    if failed:
        raise failed[0]
    if not done:
        give_up()
        raise TimeoutError(f"not over within {seconds:g} s")
    return done[0]
