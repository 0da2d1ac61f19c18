"""Word banks: the YAML files from which generators of suites draw their texts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from qeval.jsonl import read_text

# libyaml's loader is ten times faster and reads the same; it is missing only where PyYAML was built without it.
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def read_bank(path: Path) -> Any:  # noqa: ANN401 - YAML has no narrower type
    """Read a word bank that ships with a suite."""
    return yaml.load(read_text(path), Loader=_LOADER)
