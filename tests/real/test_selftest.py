"""`qeval selftest --quick` on the real model: every row is as it should be, and for the right reason."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.slow

DECISIONS = {
    "fp32-repeat": {"accepted"},
    "damage-3": {"regressed", "inconclusive"},
    "damage-8": {"regressed", "inconclusive"},
    "damage-30": {"regressed"},
    "renamed": {"accepted"},
    "nf4-cached": {"not_comparable"},
    "no-first-token": {"not_comparable"},
    "other-template": {"not_comparable"},
    "int8+keep=*": {"incomplete"},
    "one-nan": {"regressed"},
    "int8": {"regressed", "inconclusive"},
}


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory, model_folder: Path) -> dict[str, Any]:
    assert model_folder.is_dir()
    out = tmp_path_factory.mktemp("selftest") / "out"
    command = [sys.executable, "-m", "qeval", "selftest", "--quick", "--json", "--out", str(out)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    last: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return last


def test_every_row_is_there_and_as_it_should_be(result: dict[str, Any]) -> None:
    rows = {row["candidate"]: row for row in result["rows"]}
    assert rows.keys() == DECISIONS.keys()
    for name, row in rows.items():
        assert row["decision"] in DECISIONS[name], row
        assert row["as_it_should_be"], row


def test_the_measured_damage_grows_and_the_largest_ends_a_run_early(result: dict[str, Any]) -> None:
    rows = {row["candidate"]: row for row in result["rows"]}
    assert rows["fp32-repeat"]["difference"] == 0
    assert rows["damage-3"]["difference"] > rows["damage-8"]["difference"] > rows["damage-30"]["difference"]
    assert rows["damage-30"]["stopped_at"] <= 60


def test_faults_show_in_the_first_case_or_before(result: dict[str, Any]) -> None:
    stopped = {row["candidate"]: row["stopped_at"] for row in result["rows"]}
    assert {stopped["no-first-token"], stopped["other-template"], stopped["one-nan"]} == {1}
    assert stopped["int8+keep=*"] == 0


def test_the_damaged_copies_are_gone(result: dict[str, Any]) -> None:
    assert sorted(path.name for path in Path(result["out"]).iterdir()) == ["answers", "damage", "prompts"]


def test_rows_that_depend_on_batch_mates_are_found_and_what_ends_it_is_named(result: dict[str, Any]) -> None:
    (row,) = [row for row in result["rows"] if row["candidate"] == "int8"]
    assert "rows depend on their batch mates" in row["why"]
    assert "int8+threshold=0 ends that" in row["why"]
