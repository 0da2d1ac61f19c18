"""Runs in MLflow: a parent run for a job, one nested run for each variant.

Tracking never costs a result: what cannot be sent is a warning, and `qeval track push` sends it later.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from qeval.clean import clean
from qeval.reporting.tracking.address import Address, local_store, read_address, run_url, unreachable
from qeval.reporting.tracking.content import Tracked, tracked
from qeval.reporting.tracking.privacy import Privacy
from qeval.reporting.verdict import load_report

_SERVER_S = 24.0
"""For talking to a server; with the probe before and loading MLflow a push ends within 30 s."""
_FILE_S = 300.0
"""For a database file of this machine, which another process may be writing to."""
_MUCH, _SLOWEST_PER_S = 1_000_000, 100_000
"""Characters that a server should take in that time, and how many in each further second."""


class TrackingResult(NamedTuple):
    """How a push ended."""

    pushed: bool
    """The run is in the store, from now or from before."""
    run_id: str | None
    url: str | None
    """Where to look at the run."""
    warning: str | None


def push(run_folder: Path, tracking_uri: str | None, experiment: str, privacy: Privacy) -> TrackingResult:
    """Send a finished run to MLflow; a second time changes nothing.

    Args:
        run_folder: holds `verdict.json` and, where there are any, `records/<variant>/`.
        tracking_uri: tracking address; None: `mlflow.db` in the run folder.
        experiment: name of the experiment, created where it is missing.
        privacy: what may leave for a store that is no local database file: `hashes` keeps texts here.

    Returns:
        A result whose warning says why nothing was sent, where that is so. A push to a server ends within 30 s, and
        one second later for each 100 kB that it sends beyond the first 1 MB.

    Raises:
        UsageError: a bad address, a missing or damaged run folder, or a deleted experiment.
    """
    address = local_store(run_folder) if tracking_uri is None else read_address(tracking_uri)
    report = load_report(run_folder)
    content = tracked(report, run_folder, "full" if address.local else privacy)
    reason = unreachable(address)
    if reason is not None:
        return _not_sent(run_folder, address, reason)

    from qeval.reporting.tracking.apart import Job, StoreFailed, store_apart

    artifacts = (run_folder.resolve() / "mlartifacts").as_uri() if tracking_uri is None else None
    try:
        stored = store_apart(Job(address.uri, experiment, content, artifacts), _limit_s(address, content))
    except StoreFailed as error:
        return _not_sent(run_folder, address, _first_line(error))
    url = run_url(address, stored.experiment_id, stored.run_id)
    if stored.privacy == "full" and content.parent.tags["qeval.privacy"] == "hashes":
        return TrackingResult(
            True, stored.run_id, url, "this run was pushed before, with its texts; they are still there"
        )
    return TrackingResult(True, stored.run_id, url, None)


def _limit_s(address: Address, content: Tracked) -> float:
    """Return how long storing may take, so that a push to a server ends within 30 s; longer for much to send."""
    if address.local:
        return _FILE_S
    characters = sum(len(text) for run in (content.parent, *content.variants) for text in run.artifacts.values())
    return _SERVER_S + max(0, characters - _MUCH) / _SLOWEST_PER_S


def _not_sent(run_folder: Path, address: Address, reason: str) -> TrackingResult:
    later = (
        f"Results are in {run_folder}; send them later: qeval track push {run_folder} --tracking-uri {address.shown}"
    )
    return TrackingResult(False, None, None, f"not tracked: {address.shown}: {reason}. {later}")


def _first_line(error: Exception) -> str:
    said = clean(str(error)).strip().split("\n")[0] or type(error).__name__
    return said[:300].rstrip(".")
