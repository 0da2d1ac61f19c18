"""The folder where fetched and converted models are kept, and how a folder comes to be there whole or not at all."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

from filelock import FileLock

from qeval.errors import UsageError


def cache_root() -> Path:
    """Return the cache folder: `$QEVAL_CACHE`, else the platform's place for caches. It may not exist yet."""
    if chosen := os.environ.get("QEVAL_CACHE"):
        return Path(chosen).expanduser()
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or "~/AppData/Local"
    elif sys.platform == "darwin":
        base = "~/Library/Caches"
    else:
        base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(base).expanduser() / "qeval"


def models_folder() -> Path:
    """Return the folder that holds one folder a model."""
    return cache_root() / "models"


def build_once(target: Path, build: Callable[[Path], None]) -> Path:
    """Return `target`, building it first where it is absent.

    The folder is built beside its final place and renamed at the end, so it is whole wherever it exists. A lock
    makes a second process wait for the first instead of doing the work again; a build that was killed leaves a
    partial folder which the next one removes.

    Args:
        target: the folder to return.
        build: fills the empty folder it is given.

    Raises:
        UsageError: the cache cannot be written.
    """
    if target.is_dir():
        return target
    partial = target.with_name(f".{target.name}.partial")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(target.with_name(f".{target.name}.lock")):
            if target.is_dir():
                return target
            shutil.rmtree(partial, ignore_errors=True)
            partial.mkdir()
            try:
                build(partial)
                partial.rename(target)
            finally:
                shutil.rmtree(partial, ignore_errors=True)
    except OSError as error:
        raise UsageError(
            f"{target}: cannot write the model cache ({error.strerror or error}). Free some space, or set QEVAL_CACHE "
            "to a folder that can be written."
        ) from error
    return target
