"""Runs tests on mutants in a copy of the repository: each in a fork of a process that has the libraries loaded."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from scripts.mutation.mutants import Mutant, mutated

_LIBRARIES = ("numpy", "scipy.stats", "pydantic", "hypothesis", "rich.console", "typer", "yaml", "regex", "jinja2")
_CHECK_LIMIT_S = 900.0
_ALREADY = "ignore:Module already imported"
"""Plugins that the parent has loaded."""
_LEAST_S = 20.0
_TIMES_BASELINE = 6.0


def load_libraries() -> None:
    """Import what tests need and no mutant is in, so that forks find it loaded."""
    for name in (*_LIBRARIES, "pytest", "_pytest.assertion.rewrite", "datasketch", "torch", "transformers"):
        importlib.import_module(name)


def check(copy: Path, tests: Sequence[str]) -> float | None:
    """Run tests without a mutant; return seconds, or None where they fail."""
    started = time.monotonic()
    return time.monotonic() - started if _passes(copy, tests, _CHECK_LIMIT_S) else None


def survives(copy: Path, mutant: Mutant, tests: Sequence[str], baseline_s: float) -> bool | None:
    """Return whether no test saw a mutant; None where it is the same program."""
    source = mutated(copy, mutant)
    if source is None:
        return None
    path = copy / mutant.module
    whole = path.read_bytes()
    _forget(path)
    path.write_text(source, encoding="utf-8")
    try:
        return _passes(copy, tests, _LEAST_S + _TIMES_BASELINE * baseline_s)
    finally:
        path.write_bytes(whole)
        _forget(path)


def _forget(path: Path) -> None:
    """Remove a module's compiled form, which may look as new as its source."""
    Path(importlib.util.cache_from_source(str(path))).unlink(missing_ok=True)


def _passes(copy: Path, tests: Sequence[str], limit_s: float) -> bool:
    child = os.fork()
    if child == 0:
        _run(copy, tests)
    deadline = time.monotonic() + limit_s
    while True:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            _end_group(child)
            return status == 0
        if time.monotonic() > deadline:
            _end_group(child)
            os.waitpid(child, 0)
            return False
        time.sleep(0.02)


def _end_group(child: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)


def _run(copy: Path, tests: Sequence[str]) -> None:
    os.setpgid(0, 0)
    code = 70
    try:
        os.chdir(copy)
        sys.path.insert(0, str(copy))
        os.environ.update(PYTHONPATH=str(copy), PYTHONDONTWRITEBYTECODE="1", HF_HUB_OFFLINE="1", OMP_NUM_THREADS="1")
        sys.dont_write_bytecode = True
        silent = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(silent, stream)
        import pytest

        code = int(
            pytest.main(
                [*tests, "-x", "-q", "-m", "not slow", "-p", "no:cacheprovider", "-p", "no:xdist", "-W", _ALREADY]
            )
        )
    finally:
        os._exit(min(code, 255))
