"""The errors qeval raises for people, and the exit codes a job can end with.

::

    QevalError                  exit code
    ├── UsageError              2   a command, plan, policy, suite or case that a person must mend
    │   └── MissingPackage      2   an optional package is not installed
    ├── NotComparable           4   two records that must not be compared
    ├── Incomplete              5   data that was required is not there
    └── VariantFailed           5   a variant could not be loaded or run

Every message says what is wrong, where, what is allowed and what to do.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from enum import IntEnum


class ExitCode(IntEnum):
    """What a command's exit status says; `qeval run` ends with the worst over the required candidates."""

    ACCEPTED = 0
    REGRESSED = 1
    USAGE = 2
    INCONCLUSIVE = 3
    NOT_COMPARABLE = 4
    INCOMPLETE = 5
    INTERNAL = 70
    """A fault of qeval itself; never 1, which means that a candidate regressed."""
    INTERRUPTED = 130


class QevalError(Exception):
    """Base of all errors meant for the person at the keyboard: printed without a traceback."""

    exit_code = ExitCode.USAGE


class UsageError(QevalError):
    """What a person wrote cannot be used as it stands."""


class MissingPackage(UsageError):
    """An optional package is missing; the message holds the command that installs it."""

    def __init__(self, package: str, needed_for: str) -> None:
        super().__init__(f"{needed_for} needs the package {package}. Install it: pip install {package}")


class NotComparable(QevalError):
    """Two records differ in what must be equal before a difference means anything."""

    exit_code = ExitCode.NOT_COMPARABLE


class Incomplete(QevalError):
    """Required data is missing."""

    exit_code = ExitCode.INCOMPLETE


class VariantFailed(QevalError):
    """A variant cannot be loaded, or did not prove that it is what it says."""

    exit_code = ExitCode.INCOMPLETE


@contextmanager
def told_as_usage(where: str) -> Iterator[None]:
    """Turn whatever a library raises on what a person wrote into an error that names the place.

    Errors meant for people, and those of the system such as a full disk, pass unchanged.

    Raises:
        UsageError: anything else was raised.
    """
    try:
        yield
    except (QevalError, OSError):
        raise
    except Exception as error:
        raise UsageError(f"{where}: it cannot be read or checked ({type(error).__name__}: {error}).") from error


def is_out_of_memory(error: BaseException) -> bool:
    """Return whether an exception means that memory ran out: Python's, torch's on an accelerator, or on a CPU."""
    # By name, since this module does not import torch; its CPU allocator has no class of its own.
    named = type(error).__name__ == "OutOfMemoryError"
    return isinstance(error, MemoryError) or named or "can't allocate memory" in str(error)


def did_you_mean(name: str, allowed: Iterable[str]) -> str:
    """Return ``" Did you mean 'x'?"`` for the closest allowed name, or an empty string.

    >>> did_you_mean("lnogdoc", ["longdoc", "schema"])
    " Did you mean 'longdoc'?"
    >>> did_you_mean("zzz", ["longdoc", "schema"])
    ''
    """
    close = difflib.get_close_matches(name, list(allowed), n=1)
    return f" Did you mean '{close[0]}'?" if close else ""


def unknown_name(kind: str, name: str, allowed: Iterable[str]) -> UsageError:
    """Build the error for a name that is not one of the allowed ones."""
    names = sorted(allowed)
    return UsageError(f"unknown {kind} '{name}'.{did_you_mean(name, names)} Allowed: {', '.join(names) or 'none'}")
