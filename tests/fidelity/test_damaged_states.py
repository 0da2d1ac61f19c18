"""Hidden states that were damaged at rest: nothing is measured along them, and a resume computes them again."""

from __future__ import annotations

from pathlib import Path

import pytest

from qeval.record import load_record
from qeval.runner import run as running
from qeval.runner.plan import PlanFile, resolve_plan
from tests.cli.job_files import write_job
from tests.one_process import run_here
from tests.quiet import Quiet


@pytest.mark.parametrize("variant", ["fp32", "bf16"])
def test_damaged_states_are_computed_again(
    tmp_path: Path, tiny_model_folder: Path, monkeypatch: pytest.MonkeyPatch, variant: str
) -> None:
    monkeypatch.setattr(running, "run_in_process", run_here)
    write_job(tmp_path, {"bf16": {}}, 8)
    suites = (str(tmp_path / "capitals"),)
    file = PlanFile(model=str(tiny_model_folder), variants=("fp32", "bf16"), suites=suites, batch_size=4)
    plan, out = resolve_plan(file), tmp_path / "out"
    folders = [run.folder for run in running.run_plan(plan, out, Quiet())]
    before = [load_record(folder) for folder in folders]
    path = next((out / "records" / variant / "states").glob("*.states"))
    content = path.read_bytes()
    path.write_bytes(content[:-3] + bytes([content[-3] ^ 4]) + content[-2:])
    running.run_plan(plan, out, Quiet(), resume=True)
    after = [load_record(folder) for folder in folders]
    assert path.read_bytes() == content
    for one, other in zip(before, after, strict=True):
        assert (one.outcomes, one.scored, one.header.content) == (other.outcomes, other.scored, other.header.content)
    assert after[variant == "bf16"].header.measurements.attempts == 2
    assert after[variant != "bf16"].header.measurements.attempts == 1
