"""A candidate that answered beside a baseline that was not whole is answered again when the baseline is."""

from __future__ import annotations

from pathlib import Path

import pytest

from qeval.record import load_header, load_record, save_header
from qeval.runner import run as running
from qeval.runner.plan import PlanFile, resolve_plan
from tests.cli.job_files import write_job
from tests.one_process import run_here
from tests.quiet import Quiet


@pytest.mark.parametrize("state", ["crashed", "complete"])
def test_fidelity_comes_with_the_baseline(
    tmp_path: Path, tiny_model_folder: Path, monkeypatch: pytest.MonkeyPatch, state: str
) -> None:
    monkeypatch.setattr(running, "run_in_process", run_here)
    write_job(tmp_path, {"bf16": {}}, 8)
    file = PlanFile(model=str(tiny_model_folder), variants=("fp32", "bf16"), suites=(str(tmp_path / "capitals"),))
    out = tmp_path / "out"
    baseline, candidate = running.run_plan(resolve_plan(file), out, Quiet())
    scored = load_record(candidate.folder).scored
    # As it is left where the baseline's process died and the candidate's did not: nothing was scored for it.
    header = load_header(candidate.folder)
    save_header(candidate.folder, header.model_copy(update={"fidelity": None}))
    save_header(baseline.folder, load_header(baseline.folder).model_copy(update={"state": state}))
    running.run_plan(resolve_plan(file), out, Quiet(), resume=True)
    found = load_record(candidate.folder)
    # One that lacks it for a reason of its own is left as it is.
    assert (found.header.fidelity is not None) == (state == "crashed")
    assert found.scored == scored
