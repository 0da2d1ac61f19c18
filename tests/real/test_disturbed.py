"""Ten rounds of kill, Ctrl-C, broken streams and full disk on the real model; `scripts/disturb.py` plays thirty."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.real.disturbances import disturb, prepare, rounds

pytestmark = pytest.mark.slow

SEED = 13


def test_disturbed_commands_end_with_the_right_code_and_leave_what_undisturbed_ones_do(
    tmp_path: Path, model_folder: Path
) -> None:
    assert model_folder.is_dir()
    chance = random.Random(SEED)
    whole = prepare(tmp_path / "whole", 8)
    found = [disturb(one, whole, tmp_path / f"round-{one.number}", chance) for one in rounds(10, SEED)]
    assert {outcome.round: outcome.faults for outcome in found if outcome.faults} == {}
    assert sum(len(outcome.codes) > 1 for outcome in found) >= 4, "few rounds cut anything off"
