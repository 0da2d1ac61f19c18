"""The parent's side of the pre-flight: its process is started, unless what it would find is stored already."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from qeval.errors import UsageError, VariantFailed
from qeval.jsonl import dumps, loads, read_text, write_atomic
from qeval.runner.preflight import Preflight, PreflightTask
from qeval.runner.process import Clock, InProcess
from qeval.runner.task import Said
from qeval.strict import validate

FILE = "preflight.json"
_RESTS_ON = ("qeval", "versions", "suites", "models", "reading", "date")


def preflight_identity(identity: Mapping[str, Any]) -> str:
    """Return the sha256 over what a pre-flight rests on, of the identity of its run."""
    rests_on = {key: identity[key] for key in _RESTS_ON}
    return hashlib.sha256(dumps([rests_on, identity["plan"]["thinking"]]).encode()).hexdigest()


def ask_models(task: PreflightTask, in_process: InProcess, clock: Clock) -> Preflight:
    """Return what an earlier pre-flight of this run found, else what one finds now, and store it.

    Args:
        task: what to ask.
        in_process: runs a task in a process of its own.
        clock: seconds, monotonic.

    Raises:
        UsageError: a model cannot read the cases, or lacks what the plan asks for.
        VariantFailed: the process died.
    """
    path = task.folder / FILE
    before = _stored(path)
    if before is not None and before.identity == task.identity:
        return before
    heard: list[Said] = []
    ended = in_process(task, heard.append, lambda: None, None, clock)
    found = next((said for said in heard if isinstance(said, Preflight)), None)
    if ended.usage:
        raise UsageError(ended.detail)
    if found is None:
        raise VariantFailed(f"{task.name}: {ended.state}: {ended.detail}")
    if before is not None:
        # A resume brought another model. The variants that have answered keep to what they were shown.
        found = found.model_copy(update={"refused": before.refused})
    write_atomic(path, dumps(found.model_dump(mode="json"), indent=1) + "\n")
    return found


def _stored(path: Path) -> Preflight | None:
    if not path.exists():
        return None
    try:
        return validate(Preflight, loads(read_text(path)), str(path))
    except (ValueError, UsageError):
        # It is made again in seconds.
        return None
