"""A push ends in time and says why without a credential, whatever the server does."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from multiprocessing import connection
from pathlib import Path
from typing import Any

import pytest

from qeval.reporting.tracking import apart
from qeval.reporting.tracking.apart import Job, StoreFailed, store_apart
from qeval.reporting.tracking.content import RunContent, Tracked
from tests.reporting.tracking import bad_server
from tests.reporting.tracking.bad_server import Play

EMPTY = Job("http://127.0.0.1:9", "e", Tracked(RunContent("k", "n", {}, {}, {}, {}, 0), []), None)


def hangs(_: Job, pipe: connection.Connection) -> None:
    pipe.send(apart._Loaded())
    time.sleep(600)


def dies(_: Job, pipe: connection.Connection) -> None:
    os._exit(3)


@pytest.mark.parametrize(
    ("how", "limit_s", "said"), [(hangs, 0.2, "did not take everything within 0.2 s"), (dies, 60, "ended early")]
)
def test_a_process_that_sends_is_ended_at_its_limit(how: Any, limit_s: float, said: str, monkeypatch: Any) -> None:
    monkeypatch.setattr(apart, "_main", how)
    with pytest.raises(StoreFailed, match=said):
        store_apart(EMPTY, limit_s)


SERVERS: list[dict[str, Any]] = [
    {"id": "D34", "play": bad_server.drip},
    {"id": "D34", "play": bad_server.later},
    {"id": "D33", "play": bad_server.silence},
    {"id": "D33", "play": bad_server.broken},
    {"id": "D33", "play": bad_server.circle},
    {"id": "D39", "play": bad_server.coloured},
]
SECRETS = ("hunter2", "T0kenValue77", "aHVudGVyMg", "bWU6aHVudGVyMg")


@pytest.mark.slow
@pytest.mark.parametrize("row", SERVERS, ids=lambda row: f"{row['id']}-{row['play'].__name__}")
def test_a_push_ends_in_time_and_shows_no_credential(row: dict[str, Any], run_folder: Path) -> None:
    play: Play = row["play"]
    with bad_server.bad_server(play) as port:
        address = f"http://me:hunter2@127.0.0.1:{port}/?token=T0kenValue77"
        command = [sys.executable, "-m", "qeval", "track", "push", str(run_folder), "--tracking-uri", address, "--json"]
        started = time.monotonic()
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "no_proxy": "127.0.0.1", "NO_PROXY": "127.0.0.1"},
        )
        took = time.monotonic() - started
    assert done.returncode == 5, done.stderr
    # 24 s for the server; the rest is for starting two Pythons and loading MLflow on a busy machine.
    assert took < 24 + apart.LOAD_S
    assert len(done.stderr.splitlines()) == 1
    said = done.stdout + done.stderr
    assert f"http://127.0.0.1:{port}" in said
    assert [secret for secret in SECRETS if secret in said] == []
    assert not set(said) & set("\x1b\x07\u202e\u009b")
    stored = [path for path in run_folder.rglob("*") if path.is_file()]
    assert [path for path in stored if any(secret.encode() in path.read_bytes() for secret in SECRETS)] == []
