"""Word banks: the YAML files from which generators of suites draw their texts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from qeval.bounded_yaml import read_yaml


def read_bank(path: Path) -> Any:  # noqa: ANN401 - YAML has no narrower type
    """Read a word bank that ships with a suite; what values are said as may be looked up by the value.

    Raises:
        UsageError: unreadable, or not YAML.
    """
    return read_yaml(path, text_keys=False)
