"""Cases are found by `SUITE/CASE-ID`, wherever the suite lies and whatever the id holds."""

from __future__ import annotations

import json
from pathlib import Path
from unittest.mock import patch

import pytest

from qeval.errors import UsageError
from qeval.suites import load_suite
from qeval.suites.lookup import Cases, split_name

CASE = {"id": "x/y", "prompt": "a", "graders": [{"kind": "exact", "value": "x"}]}


def test_the_suite_may_be_a_folder_or_a_file_and_the_id_may_hold_slashes(tmp_path: Path) -> None:
    folder = tmp_path / "deep/mine"
    folder.mkdir(parents=True)
    (folder / "suite.yaml").write_text("name: other\nversion: 1\ndescription: b\n")
    (folder / "cases.jsonl").write_text(json.dumps(CASE))
    assert split_name(f"{folder}/x/y") == (str(folder), "x/y")
    assert split_name(f"{folder / 'cases.jsonl'}/x/y") == (str(folder / "cases.jsonl"), "x/y")
    found = Cases("smoke").find(f"{folder}/x/y")
    assert (found.suite, found.case.id) == ("other", "x/y")


@pytest.mark.parametrize("name", ["schema", "schema/", "/schema-0000", ""])
def test_a_name_without_suite_or_id_says_how_to_write_it(name: str) -> None:
    with pytest.raises(UsageError, match="Write SUITE/CASE-ID"):
        split_name(name)


def test_a_file_with_a_case_may_be_in_the_short_form_and_must_be_sound(tmp_path: Path) -> None:
    path = tmp_path / "one.json"
    path.write_text(json.dumps(CASE))
    assert Cases("smoke").find(str(path)).case.messages[0].content == "a"
    path.write_text(json.dumps({**CASE, "graders": [{"kind": "exact", "value": ""}]}))
    with pytest.raises(UsageError, match=r"one\.json, case 'x/y', grader exact"):
        Cases("smoke").find(str(path))


def test_a_suite_is_loaded_once() -> None:
    with patch("qeval.suites.lookup.load_suite", wraps=load_suite) as load:
        cases = Cases("smoke")
        assert cases.find("schema/schema-0000").case != cases.find("schema/schema-0001").case
    load.assert_called_once_with("schema", "smoke")
