"""Commands run their scripted variants in the test's own process, unless a test asks for real ones."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from qeval.runner import run
from qeval.runner.process import run_in_process
from tests.one_process import run_here


@pytest.fixture(autouse=True, scope="module")
def _one_process() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(run, "run_in_process", run_here)
        yield


@pytest.fixture
def real_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process for each variant, as users have it."""
    monkeypatch.setattr(run, "run_in_process", run_in_process)
