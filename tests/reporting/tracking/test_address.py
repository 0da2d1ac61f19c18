from __future__ import annotations

import socket

import pytest

from qeval.errors import UsageError
from qeval.reporting.tracking.address import local_store, read_address, run_url, unreachable


@pytest.mark.parametrize("uri", ["file:./mlruns", "file:///tmp/mlruns", "mlruns", "./mlruns", "/tmp/mlruns", ""])
def test_a_folder_is_refused_in_one_line_with_the_address_to_use(uri):
    with pytest.raises(UsageError, match=r"Use a database file: sqlite:///.*mlflow\.db") as caught:
        read_address(uri)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("uri", ["ftp://host/x", "htp://host", "s3://bucket/x", "http://", "http://host:notaport"])
def test_unknown_kinds_of_address_are_refused_with_what_is_allowed(uri):
    with pytest.raises(UsageError, match=r"Allowed: sqlite:///"):
        read_address(uri)


@pytest.mark.parametrize(
    ("uri", "local"),
    [
        ("sqlite:///mlflow.db", True),
        ("http://127.0.0.1:5000", False),
        ("https://tracker.example/mlflow", False),
        ("postgresql+psycopg2://u:p@db/mlflow", False),
        ("databricks", False),
    ],
)
def test_only_a_database_file_counts_as_local(uri, local):
    assert read_address(uri).local is local


@pytest.mark.parametrize("uri", ["https://me:hunter2@tracker:5000/x", "postgresql://me:hunter2@db/mlflow"])
def test_passwords_are_not_shown(uri):
    address = read_address(uri)
    assert "hunter2" not in address.shown + run_url(address, "1", "r")
    assert "hunter2" in address.uri


def test_a_run_on_a_server_has_a_page():
    assert run_url(read_address("http://h:1/"), "7", "abc") == "http://h:1/#/experiments/7/runs/abc"


def test_a_port_where_nobody_listens_is_found_out_and_one_that_answers_is_not(monkeypatch):
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        assert unreachable(read_address(f"http://127.0.0.1:{port}")) is None
    assert unreachable(read_address(f"http://127.0.0.1:{port}"), wait_s=1) is not None


def test_a_server_behind_a_proxy_is_not_probed(monkeypatch):
    monkeypatch.setenv("http_proxy", "http://proxy.example:3128")
    monkeypatch.setenv("no_proxy", "")
    assert unreachable(read_address("http://tracker.invalid:5000"), wait_s=1) is None


def test_a_database_needs_no_connection(tmp_path):
    assert unreachable(local_store(tmp_path)) is None


@pytest.mark.parametrize(
    ("address", "port"), [("http://track.test", 80), ("https://track.test", 443), ("https://track.test:5000", 5000)]
)
def test_a_server_is_tried_at_the_port_of_its_scheme(address, port, monkeypatch):
    tried = []

    def connect(at, timeout):
        tried.append(at)
        return socket.socket()

    monkeypatch.setattr("socket.create_connection", connect)
    assert unreachable(read_address(address)) is None
    assert tried == [("track.test", port)]
