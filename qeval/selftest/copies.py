"""Copies of a model folder, with weights of their own or linked to the original's."""

from __future__ import annotations

import shutil
from pathlib import Path

WEIGHTS_FILE = "model.safetensors"


def copy_all_but_weights(source: Path, target: Path) -> None:
    """Copy configuration and tokenizer of a model folder into a new one."""
    target.mkdir(parents=True)
    for path in source.iterdir():
        if path.is_file() and path.name != WEIGHTS_FILE:
            shutil.copy(path, target / path.name)


def linked_copy(source: Path, target: Path) -> Path:
    """Write a copy of a model folder whose weights are a link to the original's; return the copy."""
    copy_all_but_weights(source, target)
    (target / WEIGHTS_FILE).symlink_to((source / WEIGHTS_FILE).resolve())
    return target
