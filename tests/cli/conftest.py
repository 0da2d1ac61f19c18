"""Commands run their scripted variants in the test's own process, unless a test asks for real ones."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from qeval.runner import run
from qeval.runner.process import run_in_process
from tests.cli.job_files import qeval, write_job
from tests.one_process import run_here


@pytest.fixture(autouse=True, scope="module")
def _one_process() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(run, "run_in_process", run_here)
        yield


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a plan and its finished run in `out`."""
    folder = tmp_path_factory.mktemp("job")
    plan = write_job(folder, {"int8": {"same_as": "fp32"}}, n_cases=12)
    assert qeval("run", plan, "--out", folder / "out", "--no-track", "--report-only").exit_code == 0
    return folder


@pytest.fixture
def real_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process for each variant, as users have it."""
    monkeypatch.setattr(run, "run_in_process", run_in_process)
