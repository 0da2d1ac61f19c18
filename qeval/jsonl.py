r"""JSON and JSON Lines files that survive anything: odd editors, torn writes, hostile model output.

Reading accepts a UTF-8 byte-order mark, CRLF, blank lines and a missing final newline. Lines end at ``\\n``
only: ``str.splitlines`` would also cut at U+2028, U+0085, ``\\v`` and ``\\f``, which are legal raw inside JSON
strings. Writing never emits NaN or infinity, and keeps lone surrogates (which UTF-8 cannot hold) as ``\\ud83d``
escapes, so a model that prints half an emoji cannot break a results file.
"""

from __future__ import annotations

import codecs
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple, NoReturn, TypeVar

from qeval.errors import UsageError

T = TypeVar("T")

_SURROGATE = re.compile("[\ud800-\udfff]")


class Line(NamedTuple):
    """One parsed line: its 1-based number in the file and its value."""

    number: int
    value: Any


def read_text(path: Path) -> str:
    """Read a UTF-8 text file, with or without a byte-order mark, without changing its line ends.

    Raises:
        UsageError: the file is missing, unreadable, in UTF-16 or UTF-32, or not UTF-8; the message says which.
    """
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path}: cannot read it ({error.strerror}).") from error
    if (encoding := _wide_encoding(raw)) is not None:
        raise UsageError(f"{path}: the file is in {encoding}; save it as UTF-8.")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(f"{path}: not valid UTF-8 at byte {error.start}; save the file as UTF-8.") from error


def _wide_encoding(raw: bytes) -> str | None:
    """Return the name of the encoding where a file is in UTF-16 or UTF-32, with its mark or without, else None."""
    if raw.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)):
        return "UTF-32"
    # Text that begins with an ASCII character shows its width by the zero bytes around it (RFC 4627, section 3).
    zeros = [byte == 0 for byte in raw[:4]]
    if zeros in ([False, True, True, True], [True, True, True, False]):
        return "UTF-32"
    if raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) or zeros[:2] in ([False, True], [True, False]):
        return "UTF-16"
    return None


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON; leave the key out or write null")


def _refuse_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    seen: dict[str, Any] = {}
    for key, value in pairs:
        if key in seen:
            raise ValueError(f"the key '{key}' stands twice in one object")
        seen[key] = value
    return seen


def loads(text: str) -> Any:  # noqa: ANN401 - JSON has no narrower type
    """Parse one strict JSON value: no NaN, no infinity, no key twice.

    Raises:
        ValueError: the text is not strict JSON.

    >>> loads('{"a": 1}')
    {'a': 1}
    """
    try:
        return json.loads(text, parse_constant=_refuse_constant, object_pairs_hook=_refuse_duplicates)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def read_lines(path: Path) -> list[Line]:
    """Read a JSON Lines file that a person wrote.

    Raises:
        UsageError: the file cannot be read, or a line is not strict JSON; the message names the line.
    """
    lines = []
    for number, text in enumerate(read_text(path).split("\n"), start=1):
        if not text.strip():
            continue
        try:
            lines.append(Line(number, loads(text)))
        except ValueError as error:
            raise UsageError(f"{path}, line {number}: not JSON ({error}).") from error
    return lines


def read_appended(path: Path, parse: Callable[[str], T]) -> Iterator[T]:
    """Yield the lines of a file that a program appends to, parsed; a torn last line is dropped.

    Raises:
        UsageError: a line that ends in a newline is damaged: `parse` raised ValueError.
    """
    for number, text in complete_lines(path):
        try:
            value = parse(text)
        except ValueError as error:
            raise UsageError(f"{path}, line {number}: damaged ({error}). Restore the file, or run again.") from error
        yield value


def complete_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield number and text of the lines of a file that a program appends to, without a torn last one.

    Blank lines are passed by; a file that is not there has no lines.
    """
    if not path.exists():
        return
    # A write torn inside a character leaves bytes that are no UTF-8; they belong to the line that is dropped.
    pieces = path.read_bytes().decode("utf-8", errors="replace").split("\n")
    # A complete file ends in a newline, so the last piece is empty; otherwise it was torn in a write.
    for number, piece in enumerate(pieces[:-1], start=1):
        if piece.strip():
            yield number, piece


def dumps(value: object, *, indent: int | None = None, sort: bool = True) -> str:
    r"""Serialise to JSON: no NaN or infinity, readable non-ASCII text, lone surrogates escaped.

    Keys are sorted, unless their order is part of what is written (a tool's parameters are shown to models in it).

    Raises:
        ValueError: a float is NaN or infinite.

    >>> dumps({"e": "\ud83d", "city": "Zürich"})
    '{"city": "Zürich", "e": "\\ud83d"}'
    """
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, sort_keys=sort, indent=indent)
    return _SURROGATE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def write_atomic(path: Path, text: str) -> None:
    """Write a whole file so that a reader sees the old or the new content, never a part.

    The temporary file lies beside the target, is flushed to disk, then renamed. Lone surrogates, which UTF-8 cannot
    hold, are written as escapes.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    with temporary.open("w", encoding="utf-8", errors="backslashreplace", newline="") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)


def append_lines(path: Path, values: Iterable[object]) -> None:
    """Append values as JSON lines in one write, flushed to disk before returning."""
    append_text(path, "".join(f"{dumps(value)}\n" for value in values))


def append_text(path: Path, text: str) -> None:
    """Append text in one write, flushed to disk before returning."""
    with path.open("ab") as file:
        file.write(text.encode("utf-8"))
        file.flush()
        os.fsync(file.fileno())
