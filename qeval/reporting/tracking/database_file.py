"""The database file of a store: there whole or not at all, whatever ends the process that makes it."""

from __future__ import annotations

import os
import re
import sqlite3
from contextlib import closing, suppress
from pathlib import Path

_FILE = re.compile(r"sqlite(?:\+\w+)?:///([^?]+)")
_OF_VALUE = ("runs", "trace_info", "registered_models", "datasets", "evaluation_datasets")
"""Tables whose rows somebody would miss."""


def database_file(uri: str) -> Path | None:
    """Return the file that an address names; None for a server, and for a database in memory.

    >>> database_file("sqlite:////tmp/mlflow.db?timeout=5"), database_file("sqlite:///:memory:")
    (PosixPath('/tmp/mlflow.db'), None)
    """
    file = _FILE.match(uri)
    return None if file is None or file[1] == ":memory:" else Path(file[1])


def make_whole(file: Path, uri: str) -> None:
    """Create a store's file where there is none, or none that MLflow can open and that holds anything.

    MLflow creates tables step by step, so it does so under another name. A file that an earlier process left half made
    is moved aside.

    Args:
        file: the file, which no other process of qeval writes to meanwhile.
        uri: the address that names it.
    """
    if file.exists() and file.stat().st_size:
        # By another spelling: MLflow keeps what it opened by address, and would go on with the file moved aside.
        again = uri.replace(str(file), f"{file.parent}/./{file.name}", 1)
        if not _is_broken(again) or _holds_something(file):
            return
        file.replace(file.with_name(f"{file.name}.broken"))
    partial = file.with_name(f".{file.name}.partial")
    for left in file.parent.glob(f"{partial.name}*"):
        left.unlink()
    _open(uri.replace(str(file), str(partial), 1))
    with closing(sqlite3.connect(partial)) as connection:
        # What a write-ahead log still holds would stay behind under the other name.
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    _put_in_place(partial, file)


def _put_in_place(partial: Path, file: Path) -> None:
    with suppress(FileNotFoundError):
        if not file.stat().st_size:
            file.unlink()
    try:
        # A link and no rename: where another program has made the file meanwhile, that one stays.
        os.link(partial, file)
    except FileExistsError:
        pass
    except OSError:
        # A file system without links.
        partial.replace(file)
    partial.unlink(missing_ok=True)


def _open(uri: str) -> None:
    from mlflow.store.tracking import DEFAULT_LOCAL_FILE_AND_ARTIFACT_PATH
    from mlflow.store.tracking.sqlalchemy_store import SqlAlchemyStore

    SqlAlchemyStore(uri, DEFAULT_LOCAL_FILE_AND_ARTIFACT_PATH)._dispose_engine()


def _is_broken(uri: str) -> bool:
    from alembic.util import CommandError
    from mlflow.exceptions import MlflowException
    from sqlalchemy.exc import SQLAlchemyError

    try:
        _open(uri)
    except (MlflowException, SQLAlchemyError, CommandError):
        return True
    return False


def _holds_something(file: Path) -> bool:
    """Return whether a database holds a row that somebody would miss, or is none that can be read."""
    with closing(sqlite3.connect(f"{file.resolve().as_uri()}?mode=ro", uri=True)) as connection:
        try:
            tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
            if tables and not tables & {"experiments", "alembic_version"}:
                return True
            asked = sorted(tables & set(_OF_VALUE))
            return any(connection.execute(f"SELECT 1 FROM {name} LIMIT 1").fetchone() for name in asked)
        except sqlite3.DatabaseError:
            return True
