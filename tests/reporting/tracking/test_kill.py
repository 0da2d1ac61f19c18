"""Whatever moment a push is killed at, the next one succeeds, and what somebody has in a store is never touched."""

from __future__ import annotations

import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from qeval.reporting.tracking import push
from qeval.reporting.tracking.database_file import database_file

ROUNDS = 10


def pushing(folder: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "qeval", "track", "push", str(folder)]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


@pytest.mark.slow
def test_a_push_succeeds_after_one_that_was_killed_at_any_moment(run_folder: Path, tmp_path: Path) -> None:
    """Case D31."""
    folder = Path(shutil.copytree(run_folder, tmp_path / "whole"))
    started = time.monotonic()
    assert pushing(folder).wait() == 0
    whole_s = time.monotonic() - started
    moments = random.Random(31)
    ended = []
    for number in range(ROUNDS):
        folder = Path(shutil.copytree(run_folder, tmp_path / str(number)))
        first = pushing(folder)
        # The store is made in the second half, after MLflow was loaded.
        time.sleep(whole_s * moments.uniform(0.4, 1.0))
        first.send_signal(signal.SIGKILL)
        first.wait()
        ended.append(pushing(folder).wait())
    assert ended == [0] * ROUNDS


def half_made(file: Path, *, runs: int = 0) -> None:
    """Leave a store as a killed process of an earlier qeval left it: its first tables, and no version."""
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("CREATE TABLE experiments (experiment_id INTEGER PRIMARY KEY, name TEXT)")
        connection.execute("CREATE TABLE runs (run_uuid TEXT)")
        connection.executemany("INSERT INTO runs VALUES (?)", [(str(number),) for number in range(runs)])
        connection.commit()


@pytest.mark.slow
def test_a_store_that_was_left_half_made_is_moved_aside(run_folder: Path) -> None:
    half_made(run_folder / "mlflow.db")
    result = push(run_folder, None, "nightly", "hashes")
    assert (result.pushed, result.warning) == (True, None)
    assert (run_folder / "mlflow.db.broken").is_file()


@pytest.mark.slow
def test_a_broken_store_with_runs_in_it_is_left_as_it_is(run_folder: Path) -> None:
    half_made(run_folder / "mlflow.db", runs=1)
    result = push(run_folder, None, "nightly", "hashes")
    assert not result.pushed
    assert "not tracked" in str(result.warning)
    with closing(sqlite3.connect(run_folder / "mlflow.db")) as connection:
        assert connection.execute("SELECT count(*) FROM runs").fetchone() == (1,)


def test_a_database_of_another_program_is_not_touched(tmp_path: Path) -> None:
    file = tmp_path / "mine.db"
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("CREATE TABLE mine (x)")
    before = file.read_bytes()
    from qeval.reporting.tracking import database_file as rooms

    assert rooms._holds_something(file)
    assert file.read_bytes() == before


@pytest.mark.parametrize(
    ("uri", "file"),
    [
        ("sqlite:///mlflow.db", "mlflow.db"),
        ("sqlite+pysqlite:////tmp/a b/x.db?timeout=3", "/tmp/a b/x.db"),
        ("sqlite:///:memory:", None),
        ("http://h/sqlite:///x", None),
    ],
)
def test_the_file_of_an_address(uri: str, file: str | None) -> None:
    assert database_file(uri) == (None if file is None else Path(file))
