"""A real tracking server on this machine, for tests that look into all it received."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def store_of(folder: Path) -> str:
    return f"sqlite:///{folder / 'mlflow.db'}"


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    """A real tracking server on this machine."""
    folder = tmp_path_factory.mktemp("server")
    port = free_port()
    command = [sys.executable, "-m", "mlflow", "server", "--host", "127.0.0.1", "--port", str(port), "--workers", "1"]
    command += ["--backend-store-uri", store_of(folder), "--artifacts-destination", str(folder / "artifacts")]
    environment = {**os.environ, "MLFLOW_DISABLE_TELEMETRY": "true", "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false"}
    with (folder / "log.txt").open("w") as log:
        process = subprocess.Popen(
            command, stdout=log, stderr=subprocess.STDOUT, env=environment, cwd=folder, start_new_session=True
        )
    uri = f"http://127.0.0.1:{port}"
    try:
        wait_for(f"{uri}/health", process, folder / "log.txt")
        yield uri, folder
    finally:
        # Its workers do not all heed a polite request; nothing of it is needed any more.
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(timeout=60)


def wait_for(url, process, log):
    for _ in range(1000):
        if process.poll() is not None:
            break
        try:
            with urllib.request.urlopen(url, timeout=1):
                return
        except OSError:
            time.sleep(0.5)
    pytest.fail(f"the server did not start:\n{log.read_text()[-3000:]}")
