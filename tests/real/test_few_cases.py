"""With few cases nothing is concluded, even of a baseline against its own repeat; damage is in test_selftest.py."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.real.conftest import run_plan_file, write_plan
from tests.real.short_suite import write_short_suite

pytestmark = pytest.mark.slow


def test_the_baseline_against_its_repeat_is_inconclusive_with_forty_cases(tmp_path: Path, model_folder: Path) -> None:
    assert model_folder.is_dir()
    repeat = {"name": "fp32-repeat", "format": "fp32"}
    suite = write_short_suite(tmp_path, 40)
    plan = write_plan(tmp_path, variants=["fp32", repeat], suites=[str(suite)], self_check=0.0)
    run = run_plan_file(plan, tmp_path / "out", "--no-track")
    assert run.code == 3, run.stdout + run.stderr
