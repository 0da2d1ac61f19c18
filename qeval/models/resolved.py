"""A model that lies on this machine."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple


class ResolvedModel(NamedTuple):
    """A model that lies on this machine, ready to load."""

    name: str
    """As the person named it."""
    path: Path
    """A folder with config.json, the weights and the tokenizer."""
    revision: str | None = None
    """The hub's commit, for models from there."""
    allow_remote_code: bool = False
    """Run Python files that come with the model."""
    allow_pickle: bool = False
    """Read weights from pickle files, which can run code."""
