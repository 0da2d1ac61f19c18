"""`kill -9` of the runner at ten random moments, then --resume: the record equals an undisturbed one."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from qeval.record import OUTCOMES_FILE
from tests.real.conftest import run_plan_file, write_plan
from tests.real.disturbances import comparable
from tests.real.short_suite import write_short_suite

pytestmark = pytest.mark.slow

N_CASES = 24
KILLS = 10


def outcomes_bytes(out: Path) -> int:
    return sum(path.stat().st_size for path in out.glob(f"records/*/{OUTCOMES_FILE}"))


def kill_once(plan: Path, out: Path, how: str, chance: random.Random) -> None:
    """Start or resume the run, and kill -9 the runner inside a batch, or around a write."""
    resume = ["--resume"] if (out / "plan.json").exists() else []
    command = [sys.executable, "-m", "qeval", "run", str(plan), "--out", str(out), "--no-track", *resume]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    before = outcomes_bytes(out)
    while process.poll() is None and outcomes_bytes(out) <= before:
        time.sleep(0.0005 if how == "write" else 0.01)
    if how == "batch":
        # A batch of two takes about a second here, so this lands inside one of the next two.
        time.sleep(chance.uniform(0.05, 1.5))
    process.send_signal(signal.SIGKILL)
    process.wait()
    if how == "torn":
        wait_for_writers(out)
        tear_last_line(out, chance)


def wait_for_writers(out: Path) -> None:
    """Wait until the orphaned child has noticed that its parent is gone."""
    size = -1
    while size != outcomes_bytes(out):
        size = outcomes_bytes(out)
        time.sleep(1.0)


def tear_last_line(out: Path, chance: random.Random) -> None:
    """Leave what a machine that dies inside the write call leaves: the block's first bytes."""
    path = max(out.glob(f"records/*/{OUTCOMES_FILE}"), key=lambda found: found.stat().st_mtime_ns)
    raw = path.read_bytes()
    last = raw.rstrip(b"\n").rfind(b"\n") + 1
    path.write_bytes(raw[: chance.randrange(last + 1, len(raw))])


def test_killed_ten_times_and_resumed_the_record_equals_an_undisturbed_one(tmp_path: Path, model_folder: Path) -> None:
    assert model_folder.is_dir()
    suite = write_short_suite(tmp_path, N_CASES)
    # bf16 and nf4, since in them the composition of a batch changes results; many small batches, to have many moments.
    plan = write_plan(tmp_path, variants=["bf16", "nf4"], baseline="bf16", suites=[str(suite)], batch_size=2)
    undisturbed = run_plan_file(plan, tmp_path / "whole", "--no-track", "--report-only")
    assert undisturbed.code == 0, undisturbed.stderr
    chance = random.Random(20261129)
    moments = ["batch"] * 5 + ["write"] * 3 + ["torn"] * 2
    chance.shuffle(moments)
    assert len(moments) == KILLS
    for how in moments:
        kill_once(plan, tmp_path / "killed", how, chance)
    finished = run_plan_file(plan, tmp_path / "killed", "--resume", "--no-track", "--report-only")
    assert finished.code == 0, finished.stderr
    assert comparable(tmp_path / "killed") == comparable(tmp_path / "whole")
    attempts = [
        json.loads(path.read_text())["measurements"]["attempts"]
        for path in (tmp_path / "killed").glob("records/*/record.json")
    ]
    assert sum(attempts) > 2, "no kill came while a record was being written"
