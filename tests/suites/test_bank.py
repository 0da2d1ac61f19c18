"""Word banks read the same whichever of PyYAML's parsers is there."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from qeval.suites import list_suites
from qeval.suites.bank import read_bank

BANKS = [
    path
    for entry in list_suites()
    if entry.name in {"toolcalls", "schema", "longdoc"}
    for path in sorted(entry.folder.glob("*.yaml"))
]


@pytest.mark.parametrize("path", BANKS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_the_parser_in_python_reads_what_libyaml_reads(path: Path):
    assert yaml.load(path.read_text("utf-8"), Loader=yaml.SafeLoader) == read_bank(path)
