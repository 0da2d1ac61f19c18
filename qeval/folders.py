"""Folders of text files that are there whole, or can be told to be unfinished."""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping
from pathlib import Path

from qeval.jsonl import write_atomic

_TEMPORARY = re.compile(r"\..+\.\d+\.tmp")
"""What `write_atomic` leaves where its process is killed."""


def write_folder(folder: Path, texts: Mapping[str, str]) -> None:
    """Write a folder of files.

    A new folder is made beside its place and renamed. In one that exists the last file is written last, and an old one
    of that name is removed first: without it the folder is unfinished.

    Args:
        folder: new, or one whose files may be replaced.
        texts: by file name; the last is the one that whoever reads the folder needs.
    """
    *_, last = texts
    if folder.exists() or folder.is_symlink():
        (folder / last).unlink(missing_ok=True)
        for name, text in texts.items():
            write_atomic(folder / name, text)
        return
    partial = folder.with_name(f".{folder.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    for name, text in texts.items():
        write_atomic(partial / name, text)
    partial.rename(folder)


def names_in(folder: Path) -> list[str]:
    """Return the names of what a folder holds, sorted, without what a killed process left of an unfinished file."""
    return sorted(path.name for path in folder.iterdir() if not _TEMPORARY.fullmatch(path.name))
