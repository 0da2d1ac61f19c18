"""Planted damage of three sizes is never accepted; the largest ends regressed; A/A is accepted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from qeval.selftest.damage import damaged_copy, noise, projections, two_bits
from tests.real.conftest import Run, run_plan_file, write_plan
from tests.real.short_suite import write_short_suite

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory, model_folder: Path) -> tuple[Run, dict[str, Any]]:
    folder = tmp_path_factory.mktemp("planted")
    copies = {
        "noise-on-a-few-layers": damaged_copy(model_folder, folder / "noise", projections(range(10, 14)), noise(0.3)),
        "one-layer-at-2-bits": damaged_copy(model_folder, folder / "one", projections([12]), two_bits),
        "ten-layers-at-2-bits": damaged_copy(model_folder, folder / "ten", projections(range(10, 20)), two_bits),
    }
    entries = [{"name": name, "format": "fp32", "model": str(path)} for name, path in copies.items()]
    repeat = {"name": "fp32-repeat", "format": "fp32"}
    suite = write_short_suite(folder, 160)
    plan = write_plan(folder, variants=["fp32", *entries, repeat], suites=[str(suite)], self_check=0.1)
    run = run_plan_file(plan, folder / "out", "--no-track")
    verdict = json.loads((run.out / "verdict.json").read_text())
    return run, {candidate["candidate"]: candidate for candidate in verdict["candidates"]}


def test_no_planted_damage_is_accepted_and_the_largest_is_regressed(planted: tuple[Run, dict[str, Any]]) -> None:
    run, candidates = planted
    decisions = {name: candidate["decision"] for name, candidate in candidates.items()}
    assert run.code == 1, run.stderr
    assert decisions["noise-on-a-few-layers"] in {"inconclusive", "regressed"}
    assert decisions["one-layer-at-2-bits"] in {"inconclusive", "regressed"}
    assert decisions["ten-layers-at-2-bits"] == "regressed"


def test_the_baseline_against_its_own_repeat_is_accepted_under_the_default_policy(
    planted: tuple[Run, dict[str, Any]],
) -> None:
    _, candidates = planted
    assert candidates["fp32-repeat"]["decision"] == "accepted", candidates["fp32-repeat"]["reasons"]
    assert candidates["fp32-repeat"]["identical"]


def test_the_same_with_forty_cases_is_inconclusive(tmp_path: Path, model_folder: Path) -> None:
    assert model_folder.is_dir()
    repeat = {"name": "fp32-repeat", "format": "fp32"}
    suite = write_short_suite(tmp_path, 40)
    plan = write_plan(tmp_path, variants=["fp32", repeat], suites=[str(suite)], self_check=0.0)
    run = run_plan_file(plan, tmp_path / "out", "--no-track")
    assert run.code == 3, run.stdout + run.stderr
