"""Writing runs to MLflow so that pushing twice, or again after dying half way, changes nothing.

Every run carries its key as a tag. A finished run with that key is left alone; an unfinished one is completed, or
replaced where it holds a parameter with another value, which no server lets anybody change.
"""

from __future__ import annotations

import tempfile
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from qeval.errors import UsageError
from qeval.mlflow_settings import PATIENT, QUIET, settings
from qeval.reporting.tracking.content import RunContent, Tracked, with_baseline
from qeval.reporting.tracking.database_file import database_file, make_whole

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.entities import Run


_METRICS_AT_ONCE = 500
_TAGS_AT_ONCE = 100

_STRICT = {"MLFLOW_HTTP_REQUEST_TIMEOUT": "6", "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "1"}
"""For the first request: a server that does not answer is given up in under 30 s."""
_LOCK_WAIT_S = 240


class Stored(NamedTuple):
    """Where a pushed job lies."""

    experiment_id: str
    run_id: str
    new: bool
    """False where a finished run with the same key was found."""
    privacy: str
    """What the stored run holds: `full` or `hashes`."""


def load_mlflow() -> None:
    """Import MLflow, which takes seconds."""
    with settings(QUIET):
        import mlflow  # noqa: F401 - so that it is loaded


def failures() -> tuple[type[Exception], ...]:
    """Return what MLflow raises when a store cannot be reached, opened or written."""
    from alembic.util import CommandError
    from mlflow.exceptions import MlflowException
    from sqlalchemy.exc import SQLAlchemyError

    # requests' errors are OSErrors; a missing database driver is an ImportError.
    return (MlflowException, SQLAlchemyError, CommandError, OSError, ImportError)


def store(uri: str, experiment: str, content: Tracked, artifacts: str | None) -> Stored:
    """Write a job, while no other process writes to the same database file.

    MLflow creates the tables of a new file step by step: two processes that do so at once break each other, and one
    that is ended leaves a file that no MLflow can open. So a file is made under another name and appears whole.

    Args:
        uri: tracking address.
        experiment: name of the experiment, created where it is missing.
        content: what to write.
        artifacts: where a new experiment keeps its artifacts; None: where the server says.

    Raises:
        UsageError: the experiment cannot be used.
        MlflowException: and all others of `failures()`.
    """
    with settings(QUIET), _alone(uri):
        from mlflow import MlflowClient

        if (file := database_file(uri)) is not None:
            make_whole(file, uri)
        client = MlflowClient(tracking_uri=uri)
        with settings(_STRICT):
            experiment_id = _experiment(client, experiment, artifacts)
        with settings(PATIENT):
            return _write(client, experiment_id, content)


def _alone(uri: str) -> AbstractContextManager[object]:
    from filelock import FileLock

    file = database_file(uri)
    # A server keeps order itself, and a database in memory is nobody else's.
    return nullcontext() if file is None else FileLock(f"{file}.lock", timeout=_LOCK_WAIT_S)


def _write(client: MlflowClient, experiment_id: str, content: Tracked) -> Stored:
    """Write the parent run, its variants, and last that the parent is finished."""
    parent, finished = _open(client, experiment_id, content.parent)
    if finished and not _more_wanted(parent, content.parent):
        return Stored(experiment_id, parent.info.run_id, new=False, privacy=parent.data.tags.get("qeval.privacy", ""))
    run_id = parent.info.run_id
    baseline_run = ""
    for variant in content.variants:
        child, whole = _open(client, experiment_id, variant)
        baseline_run = baseline_run or child.info.run_id
        if whole and not _more_wanted(child, variant):
            # Stored by a push that ended before its last variant, so that a large run gets there bit by bit.
            continue
        nested = variant._replace(tags=variant.tags | {"mlflow.parentRunId": run_id})
        _fill(client, child, with_baseline(nested, baseline_run))
    _fill(client, parent, content.parent)
    return Stored(experiment_id, run_id, new=not finished, privacy=content.parent.tags["qeval.privacy"])


def _more_wanted(run: Run, content: RunContent) -> bool:
    """Whether texts shall be added to a run that was pushed without them."""
    return content.tags["qeval.privacy"] == "full" and run.data.tags.get("qeval.privacy") != "full"


def _experiment(client: MlflowClient, name: str, artifacts: str | None) -> str:
    """Find or create the experiment; another process may create it in between. Never falls back to Default."""
    from mlflow.exceptions import MlflowException

    found = client.get_experiment_by_name(name)
    if found is None:
        try:
            return str(client.create_experiment(name, artifact_location=artifacts))
        except MlflowException as error:
            if error.error_code != "RESOURCE_ALREADY_EXISTS":
                raise
            found = client.get_experiment_by_name(name)
    if found is None or found.lifecycle_stage != "active":
        raise UsageError(f"the experiment '{name}' was deleted in the tracking store. Restore it, or name another.")
    return str(found.experiment_id)


def _open(client: MlflowClient, experiment_id: str, content: RunContent) -> tuple[Run, bool]:
    """Find the run with this key, or create it; say whether it is finished."""
    runs = client.search_runs([experiment_id], f"tags.`qeval.key` = '{content.key}'")
    for run in runs:
        if run.info.status == "FINISHED":
            return run, True
    for run in runs:
        if all(run.data.params.get(name, value) == value for name, value in content.params.items()):
            return run, False
        client.delete_run(run.info.run_id)
    tags = {"qeval.key": content.key}
    return client.create_run(experiment_id, content.started_ms, tags=tags, run_name=content.name), False


def _fill(client: MlflowClient, run: Run, content: RunContent) -> None:
    """Write everything of a run; what is there already is written over with the same."""
    from mlflow.entities import Metric, Param, RunTag

    run_id = run.info.run_id
    params = [Param(name, value) for name, value in content.params.items() if name not in run.data.params]
    tags = [RunTag(name, value) for name, value in content.tags.items()]
    # A metric with the same time and step is the same point, so a second push adds none.
    metrics = [Metric(name, value, content.started_ms, 0) for name, value in content.metrics.items()]
    client.log_batch(run_id, params=params)
    for start in range(0, len(tags), _TAGS_AT_ONCE):
        client.log_batch(run_id, tags=tags[start : start + _TAGS_AT_ONCE])
    for start in range(0, len(metrics), _METRICS_AT_ONCE):
        client.log_batch(run_id, metrics=metrics[start : start + _METRICS_AT_ONCE])
    with tempfile.TemporaryDirectory() as folder:
        for path, text in content.artifacts.items():
            file = Path(folder) / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8", newline="")
        client.log_artifacts(run_id, folder)
    if run.info.status != "FINISHED":
        client.set_terminated(run_id, "FINISHED")
