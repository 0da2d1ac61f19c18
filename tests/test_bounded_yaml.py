"""YAML of people and of strangers: read, or refused with its place, before it is built."""

from __future__ import annotations

import re
import tracemalloc
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import qeval
from qeval.bounded_yaml import read_yaml
from qeval.errors import UsageError
from qeval.jsonl import read_lines

_ROWS = [line.value for line in read_lines(Path(__file__).with_name("yaml_files.jsonl"))]
_PIECES = st.sampled_from(
    ["a", "b: ", "- ", "[", "]", "{", "}", ": ", ", ", "\n", "  ", "\t", "&x ", "*x", "? ", "<<: ", "!!int ", "!t ",
     "'", '"', "|\n", ">-\n", "#", "---\n", "...\n", "%YAML 1.1\n", "~", "0x1", "1:2", "2020-13-01", "1e5", ".inf",
     "\\", "\u2028", "\x85", "=", "@", "`", "%"]
)  # fmt: skip


def _written(row: dict[str, Any]) -> str:
    """Return the text of a row: whole, or in parts with how often each is repeated."""
    return row["yaml"] if isinstance(row["yaml"], str) else "".join(part * times for part, times in row["yaml"])


@pytest.mark.parametrize("row", _ROWS, ids=lambda row: row["id"])
def test_a_file_is_read_or_refused_with_its_place(row: dict[str, Any], tmp_path: Path):
    path = tmp_path / "file.yaml"
    path.write_bytes(_written(row).encode())
    if "length" in row:
        assert len(read_yaml(path)["a"]) == row["length"]
        return
    if "value" in row:
        assert read_yaml(path) == row["value"]
        return
    with pytest.raises(UsageError) as caught:
        read_yaml(path)
    for said in ("file.yaml", *row["says"]):
        assert said in str(caught.value)


def test_a_file_that_would_grow_is_refused_before_it_is_built(tmp_path: Path):
    path = tmp_path / "bomb.yaml"
    path.write_text(next(_written(row) for row in _ROWS if row["id"].startswith("D37")))
    tracemalloc.start()
    with pytest.raises(UsageError):
        read_yaml(path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1_000_000


@given(text=st.lists(_PIECES, max_size=30).map("".join) | st.text(max_size=40))
def test_any_text_is_read_or_refused(text: str, tmp_path_factory: pytest.TempPathFactory):
    path = tmp_path_factory.getbasetemp() / "any.yaml"
    path.write_bytes(text.encode("utf-8", "replace"))
    for text_keys in (True, False):
        with suppress(UsageError):
            read_yaml(path, text_keys=text_keys)


def test_all_yaml_and_json_is_read_by_the_bounded_readers():
    """A reader beside them would read without a bound."""
    package = Path(qeval.__file__).parent
    found = {
        (called, str(path.relative_to(package)))
        for path in package.rglob("*.py")
        for called in re.findall(r"\b(?:yaml\.\w*load\w*|json\.loads?)\(", path.read_text("utf-8"))
    }
    assert found == {
        ("yaml.load(", "bounded_yaml.py"),
        ("json.loads(", "jsonl.py"),
        # What has been read by it and written by us, or comes with the package.
        ("json.loads(", "streams.py"),
        ("json.loads(", "grading/_schema/__init__.py"),
        ("json.loads(", "suites/importers/_templates.py"),
    }
