"""A generator's code, which may raise anything: every end of it is a sentence for whoever wrote it."""

from __future__ import annotations

import signal
import threading
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

from qeval.errors import UsageError


class Place:
    """Where a generator is: in its own code (None), or in a case that it returned."""

    case: str | None = None


@contextmanager
def foreign_code(path: Path) -> Iterator[Place]:
    """Turn whatever a person's own code raises into a usage error, but let a real Ctrl-C pass.

    Raises:
        UsageError: the code failed; the message names the file, and the line or the case.
    """
    at, pressed = Place(), _Pressed()
    try:
        with pressed:
            yield at
    except UsageError:
        raise
    except BaseException as error:
        if pressed.yes:
            raise KeyboardInterrupt from error
        if at.case is not None:
            raise UsageError(f"{at.case}: not JSON ({_said(error)}).") from error
        name = type(error).__name__
        raise UsageError(f"{_line(path, error)}: the generator failed: {name}: {_said(error)}.") from error


def _said(error: BaseException) -> str:
    try:
        return str(error)
    except BaseException:  # noqa: BLE001 - an exception of a class of its own may even fail to say what it is
        return "no message"


class _Pressed:
    """Tells a Ctrl-C from code that raises KeyboardInterrupt itself."""

    def __init__(self) -> None:
        self.yes = False
        self._before: Any = None

    def __enter__(self) -> None:
        # Only the main thread hears signals, and only Python's own way of hearing this one is looked at.
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler and _is_main_thread():
            self._before = signal.signal(signal.SIGINT, self._hear)

    def __exit__(self, *_: object) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)

    def _hear(self, number: int, frame: FrameType | None) -> None:
        self.yes = True
        signal.default_int_handler(number, frame)


def _is_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()


def _line(path: Path, error: BaseException) -> str:
    """Return file and line of the generator where an exception came from."""
    own = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(path)]
    line = error.lineno if isinstance(error, SyntaxError) else own[-1] if own else None
    return str(path) if line is None else f"{path}, line {line}"
