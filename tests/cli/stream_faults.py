"""Commands run as programs with standard streams that are closed, full, unread or in a legacy encoding."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import NamedTuple

FAULTS = ("closed", "full", "unread")
_SHELL = {"closed": "{0}>&-", "full": "{0}>/dev/full"}


class Left(NamedTuple):
    """What a command left where its streams could be read."""

    code: int
    stdout: bytes
    stderr: bytes


def run_with(
    arguments: Sequence[object], *, stdout: str = "", stderr: str = "", environment: Mapping[str, str] | None = None
) -> Left:
    """Run `qeval` with one of FAULTS on a stream, or none.

    An unread stream is a pipe whose reader is gone before the first byte is written.
    """
    spoilt = [(1, stdout), (2, stderr)]
    redirections = " ".join(_SHELL[fault].format(number) for number, fault in spoilt if fault in _SHELL)
    ends = {number: _without_reader() for number, fault in spoilt if fault == "unread"}
    try:
        done = subprocess.run(
            ["sh", "-c", f'exec "$@" {redirections}', "sh", sys.executable, "-m", "qeval", *map(str, arguments)],
            stdin=subprocess.DEVNULL,
            stdout=ends.get(1, subprocess.PIPE),
            stderr=ends.get(2, subprocess.PIPE),
            env={**os.environ, **(environment or {})},
            check=False,
        )
    finally:
        for end in ends.values():
            os.close(end)
    return Left(done.returncode, done.stdout or b"", done.stderr or b"")


def _without_reader() -> int:
    reading, writing = os.pipe()
    os.close(reading)
    return writing
