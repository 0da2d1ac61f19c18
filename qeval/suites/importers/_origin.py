"""What lies beside data and says where they come from: files, folders, licences."""

from __future__ import annotations

import re
from pathlib import Path

from qeval.errors import UsageError
from qeval.sensitive.address import shown_address

_LICENCE_LINE = re.compile(r"^licen[cs]e:\s*(?:-[ \t]*)?(\S.*?)[ \t\r]*$", re.IGNORECASE | re.MULTILINE)
_FRONT_MATTER = re.compile(r"---\r?\n.*?^---", re.DOTALL | re.MULTILINE)
_LICENCE_FILES = ("LICENSE", "LICENSE.txt", "LICENSE.md", "LICENCE", "COPYING")
_LONGEST = 300


def files_of(source: str, pattern: str, what: str) -> list[Path]:
    """Return the file that a source names, or the files of its folder that fit a pattern, sorted.

    Raises:
        UsageError: there is nothing at that place, or no such file in the folder.
    """
    path = Path(source)
    if path.is_file():
        return [path]
    if not path.is_dir():
        raise UsageError(f"{source}: no such file or folder. Give {what}.")
    found = sorted(file for file in path.rglob(pattern) if file.is_file())
    if not found:
        raise UsageError(f"{source}: holds no file like {pattern}. Give {what}.")
    return found


def source_name(source: str) -> str:
    """Return a source as a README may name it: the last part of a path, an address without login and query values."""
    is_address = "://" in source and not source.startswith("sqlite")
    return shown_address(source) if is_address else Path(source).name or source


def licence_of(source: str) -> str | None:
    """Return the licence that lies beside data, or None.

    Read are a file SOURCE (there or one folder up), the head of a data card (README.md), and a licence file.
    """
    path = Path(source).resolve()
    folder = path if path.is_dir() else path.parent
    card = _FRONT_MATTER.match(_text(folder / "README.md")) if (folder / "README.md").is_file() else None
    told = [_text(file) for file in (folder / "SOURCE", folder.parent / "SOURCE") if file.is_file()]
    for text in [*told, *([card[0]] if card else [])]:
        line = _LICENCE_LINE.search(text)
        if line:
            return line[1][:_LONGEST]
    for name in _LICENCE_FILES:
        if (folder / name).is_file():
            first = next((line.strip() for line in _text(folder / name).splitlines() if line.strip()), "")
            return f"{first[:_LONGEST]} (file {name})" if first else None
    return None


def _text(path: Path) -> str:
    """Return a text that is only looked through, whatever its encoding: a licence in Latin-1 is no reason to stop."""
    return path.read_bytes().decode("utf-8-sig", errors="replace")
