"""Standard streams that cannot change how a process ends.

A command's exit code is its decision, so writing to a stream never fails here: a stream that is closed or full, or that
nobody reads any more, takes what it is given and loses it. Characters that its encoding lacks are written in ASCII.
Descriptors 0 to 2 are made valid first, since a file opened while one of them is closed would get its number, and what
is meant for the terminal would end up in that file.
"""

from __future__ import annotations

import codecs
import errno
import io
import json
import os
import select
import sys
import unicodedata
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

ASCII_ERRORS = "qeval.ascii"
"""Name of the codec error handler that writes in ASCII what an encoding lacks."""
_NOBODY_READS = frozenset({errno.EPIPE, errno.EBADF, errno.ECONNRESET, errno.EIO})
"""What is no loss to tell of: the reader went away, or never was there."""


class _Descriptor(io.RawIOBase):
    """A file descriptor whose writes never fail."""

    def __init__(self, number: int) -> None:
        self._number = number
        self.failure: OSError | None = None
        """Why everything from then on is lost."""

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._number

    def isatty(self) -> bool:
        return os.isatty(self._number)

    def write(self, data: ReadableBuffer, /) -> int:
        view = memoryview(data)
        while self.failure is None:
            try:
                return os.write(self._number, view)
            except BlockingIOError:
                self._wait()
            except OSError as error:
                self.failure = error
        return view.nbytes

    def _wait(self) -> None:
        """Wait until a descriptor that somebody made non-blocking takes more."""
        try:
            select.select([], [self._number], [])
        except (OSError, ValueError):
            self.failure = OSError(errno.EBADF, os.strerror(errno.EBADF))


class Stream(io.TextIOWrapper):
    """Text on a descriptor. It outlives `close()`: a suite's generator may close streams that are not its own."""

    def __init__(
        self, number: int, encoding: str, errors: str, *, by_line: bool, rewrite: Callable[[str], str] | None = None
    ) -> None:
        """Write to a descriptor; `by_line`: flush at every line end; `rewrite`: what becomes of each text."""
        self._descriptor = _Descriptor(number)
        self._rewrite = rewrite
        super().__init__(io.BufferedWriter(self._descriptor), encoding, errors, line_buffering=by_line)

    def write(self, text: str, /) -> int:
        """Write a text, rewritten where the stream says how."""
        return super().write(text if self._rewrite is None else self._rewrite(text))

    def close(self) -> None:
        """Flush, and stay open."""
        self.flush()

    @property
    def failure(self) -> OSError | None:
        """Why what was written is lost, None where it is not."""
        self.flush()
        return self._descriptor.failure


def settle() -> None:
    """Make descriptors 0 to 2 valid, and put streams that never fail in place of the interpreter's own.

    Streams that somebody else has put there, such as a test runner, stay.
    """
    _open_standard_descriptors()
    codecs.register_error(ASCII_ERRORS, _in_ascii)
    if sys.stdout is sys.__stdout__:
        sys.stdout = _in_place_of(sys.stdout, 1)
    if sys.stderr is sys.__stderr__:
        sys.stderr = _in_place_of(sys.stderr, 2)


def redirect(path: Path, rewrite: Callable[[str], str]) -> None:
    """Append all that this process prints, from Python or C, to a file; where it cannot be opened, to nowhere.

    Args:
        path: the file.
        rewrite: what becomes of each text that Python prints.
    """
    _open_standard_descriptors()
    try:
        log = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
    except OSError:
        log = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            with suppress(OSError, ValueError):
                stream.flush()
    for number in (1, 2):
        os.dup2(log, number)
    os.close(log)
    sys.stdout = Stream(1, "utf-8", "backslashreplace", by_line=True, rewrite=rewrite)
    sys.stderr = Stream(2, "utf-8", "backslashreplace", by_line=True, rewrite=rewrite)


def loss() -> str | None:
    """Return why a part of standard output is lost; None where nothing is, or where nobody reads."""
    failure = sys.stdout.failure if isinstance(sys.stdout, Stream) else None
    return None if failure is None or failure.errno in _NOBODY_READS else failure.strerror


def _open_standard_descriptors() -> None:
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            nowhere = os.open(os.devnull, os.O_RDONLY if number == 0 else os.O_WRONLY)
            if nowhere != number:
                os.dup2(nowhere, number, inheritable=True)
                os.close(nowhere)
            else:
                os.set_inheritable(number, True)


def _in_place_of(stream: object, number: int) -> Stream:
    """Return a stream like the given one, None where it was closed when the interpreter started."""
    if isinstance(stream, io.TextIOBase):
        with suppress(OSError, ValueError):
            stream.flush()
    encoding = getattr(stream, "encoding", None) or "utf-8"
    by_line = number == 2 or os.isatty(number)
    return Stream(number, encoding, ASCII_ERRORS, by_line=by_line)


def _in_ascii(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return "".join(map(in_ascii, error.object[error.start : error.end])), error.end


@cache
def in_ascii(character: str) -> str:
    r"""Write one character in ASCII: by its stand-in, without its accent, or by its code point.

    >>> [in_ascii(character) for character in "→é字"]
    ['->', 'e', '\\u5b57']
    """
    if (stand_in := _stand_ins().get(character)) is not None:
        return stand_in
    parts = unicodedata.normalize("NFD", character)
    if parts[0].isascii() and all(map(unicodedata.combining, parts[1:])):
        return parts[0]
    return character.encode("ascii", "backslashreplace").decode("ascii")


@cache
def _stand_ins() -> dict[str, str]:
    found: dict[str, str] = json.loads((resources.files("qeval") / "ascii.json").read_text("utf-8"))
    return found
