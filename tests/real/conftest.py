"""What tests on the real embedded model share."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml


class Run(NamedTuple):
    """A finished `qeval run`."""

    code: int
    stdout: str
    stderr: str
    out: Path


@pytest.fixture(scope="session")
def model_folder() -> Path:
    """The embedded model, fetched where it is not in the cache yet."""
    from qeval.models.fetch import fetch

    return fetch("smollm2-135m")


def write_plan(folder: Path, **content: Any) -> Path:
    """Write a plan file on the embedded model."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "plan.yaml"
    path.write_text(yaml.safe_dump({"model": "smollm2-135m", **content}))
    return path


def run_plan_file(plan: Path, out: Path, *more: str) -> Run:
    """Run `qeval run` in a process of its own, as a user does."""
    command = [sys.executable, "-m", "qeval", "run", str(plan), "--out", str(out), *more]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return Run(done.returncode, done.stdout, done.stderr, out)
