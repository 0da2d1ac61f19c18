"""`qeval track push` passes on what a store said without obeying it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from qeval import clean
from qeval.clean import hide
from qeval.reporting.tracking import TrackingResult
from tests.cli.job_files import qeval_entry

HOSTILE = "\x1b[2J\x1b]0;owned\x07 no \u202eyes\u009b31m \u2028 http://me:hunter2@host"


@pytest.mark.parametrize("more", [[], ["--json"]], ids=["text", "json"])
def test_a_reply_of_a_tracker_moves_no_terminal(
    more: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Case D39, in every way a reply is shown."""
    monkeypatch.setattr(clean, "_hidden", {})
    result = TrackingResult(False, None, None, f"not tracked: {HOSTILE}")
    monkeypatch.setattr("qeval.reporting.tracking.push", lambda *_: result)
    done = qeval_entry("track", "push", tmp_path, *more)
    assert done.returncode == 5
    assert not set(done.stdout + done.stderr) & set("\x1b\x07\u202e\u009b\u2028")
    assert "hunter2" not in done.stderr
    if more:
        hide("hunter2")
        again = qeval_entry("track", "push", tmp_path, *more)
        assert "hunter2" not in again.stdout
        assert json.loads(done.stdout.splitlines()[-1])["warning"] == result.warning
