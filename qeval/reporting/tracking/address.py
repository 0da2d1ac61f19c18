"""Where runs are tracked: which addresses are allowed, which are local, whether anybody answers there."""

from __future__ import annotations

import socket
import threading
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit, urlunsplit
from urllib.request import getproxies, proxy_bypass

from qeval.clean import hide
from qeval.errors import UsageError
from qeval.sensitive.address import secrets_of, shown_address, take_apart

PROBE_S = 5.0
"""Longest wait for a server to take a connection."""
_DATABASES = ("sqlite", "postgresql", "mysql", "mssql")
_ALLOWED = "sqlite:///PATH/mlflow.db, http(s)://HOST:PORT, postgresql://, mysql://, mssql:// or databricks"


class Address(NamedTuple):
    """A checked tracking address."""

    uri: str
    shown: str
    """Without login and without the values of its query, for messages."""
    local: bool
    """A database file of this machine: text may be stored there."""
    server: bool
    """Reached over HTTP."""


def local_store(folder: Path) -> Address:
    """Return the default address: a database file in the run's folder."""
    uri = f"sqlite:///{folder.resolve() / 'mlflow.db'}"
    return Address(uri, uri, local=True, server=False)


def read_address(uri: str) -> Address:
    """Check a tracking address.

    Raises:
        UsageError: a plain folder (which current MLflow refuses), or a kind of address that MLflow does not know.

    >>> read_address("http://user:secret@tracker:5000").shown
    'http://tracker:5000'
    """
    for secret in secrets_of(uri):
        hide(secret)
    shown = shown_address(uri)
    scheme = take_apart(uri).scheme.removesuffix("://").partition("+")[0].lower()
    if scheme in {"http", "https"}:
        if not _host(uri):
            raise UsageError(f"tracking address '{shown}' names no host. Allowed: {_ALLOWED}.")
        return Address(uri, shown, local=False, server=True)
    if scheme in _DATABASES:
        return Address(uri, shown, local=scheme == "sqlite", server=False)
    if uri == "databricks" or scheme == "databricks":
        return Address(uri, shown, local=False, server=False)
    if scheme in {"", "file"}:
        raise UsageError(
            f"tracking address '{shown}' is a folder, and MLflow no longer keeps runs in plain folders. "
            f"Use a database file: sqlite:///{shown.removeprefix('file:').rstrip('/') or '.'}/mlflow.db"
        )
    raise UsageError(f"tracking address '{shown}' is of no kind MLflow knows. Allowed: {_ALLOWED}.")


def _host(uri: str) -> str | None:
    try:
        parts = urlsplit(uri)
        return parts.hostname if parts.port is None or parts.port > 0 else None
    except ValueError:
        return None


def run_url(address: Address, experiment_id: str, run_id: str) -> str:
    """Return the page of a run on a server, or for a database the command that shows it."""
    if not address.server:
        return f"{address.shown} (run {run_id}; to look at it: mlflow ui --backend-store-uri {address.shown})"
    parts = urlsplit(address.shown)
    return urlunsplit(
        parts._replace(
            path=parts.path.rstrip("/") + "/", query="", fragment=f"/experiments/{experiment_id}/runs/{run_id}"
        )
    )


def unreachable(address: Address, wait_s: float = PROBE_S) -> str | None:
    """Try to connect to a server's port; return why that failed, or None where it did not.

    MLflow itself would retry for minutes. A server behind a proxy is not tried: only the proxy can reach it.
    """
    parts = urlsplit(address.uri)
    host = parts.hostname or ""
    if not address.server or (parts.scheme in getproxies() and not proxy_bypass(host)):
        return None
    port = parts.port or (443 if parts.scheme == "https" else 80)
    failure: list[str] = ["no answer"]

    def connect() -> None:
        try:
            socket.create_connection((host, port), timeout=wait_s).close()
            failure.clear()
        except OSError as error:
            failure[:] = [error.strerror or str(error) or "no answer"]

    # In a thread, since looking up a name has no time limit of its own.
    attempt = threading.Thread(target=connect, daemon=True)
    attempt.start()
    attempt.join(wait_s + 1)
    return failure[0] if failure else None
