"""The folder of a run: which run it holds, and that one process alone writes there."""

from __future__ import annotations

import fcntl
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from qeval import __version__
from qeval.errors import UsageError
from qeval.jsonl import dumps, loads, read_text, write_atomic
from qeval.record import RECORD_FILE, DamagedRecord, folder_name, load_header
from qeval.runner.environment import package_versions
from qeval.runner.plan import Plan
from qeval.runner.resume import differences

PLAN_FILE = "plan.json"
RECORDS_FOLDER = "records"


def identity_of(plan: Plan, fingerprints: dict[str, str | None], again: dict[str, int]) -> dict[str, Any]:
    """Return what must be equal for a resume to mean the same run; `plan.variants` may differ as `claim` says.

    Args:
        plan: the checked plan.
        fingerprints: of the models by name; None for engines that load none.
        again: cases of each suite that run again.
    """
    # Suites count by their content, however they were named.
    file = plan.file.model_dump(mode="json", exclude={"out", "policy", "time_limit_s", "judge", "suites"})
    variants = {variant.name: variant.model_dump(mode="json", exclude={"name"}) for variant in plan.variants}
    return {
        "qeval": __version__,
        "plan": {**file, "baseline": plan.baseline.name, "variants": variants},
        "device": plan.device,
        "threads": plan.threads,
        "suites": {suite.name: suite.digest for suite in plan.suites},
        "models": fingerprints,
        "script": None if plan.script is None else read_text(plan.script),
        "versions": package_versions(),
        "cases again": again,
    }


def claim(out: Path, identity: dict[str, Any], *, resume: bool) -> None:
    """Write down which run a folder holds; a resume must be of that run.

    It may bring further candidates, and leave out those that never came to a whole record.

    Args:
        out: the folder, which exists.
        identity: of the run, from `identity_of`.
        resume: whether to go on with what is there.

    Raises:
        UsageError: another run is there, or none to resume.
    """
    path = out / PLAN_FILE
    if resume and not path.exists():
        raise UsageError(f"{out}: no run to resume there ({PLAN_FILE} is missing). Check --out, or leave out --resume.")
    if path.exists() and not resume:
        raise UsageError(
            f"{out} already holds a run. Finish it, or add candidates to it, with --resume, or choose another --out."
        )
    if resume:
        _check_same_run(path, identity)
    write_atomic(path, dumps(identity, indent=1) + "\n")


def _check_same_run(path: Path, identity: dict[str, Any]) -> None:
    try:
        before = loads(read_text(path))
        now = identity["plan"]["variants"]
        kept = {name for name in before["plan"]["variants"] if name in now or _is_complete(path.parent, name)}
        found = differences(_restricted(before, kept), _restricted(identity, kept))
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise UsageError(f"{path}: damaged ({error!r}). Start again with another --out.") from error
    if found:
        raise UsageError(
            f"cannot resume {path.parent}: {'; '.join(found)}. Restore what differs, or start again with another "
            "--out. Candidates may be added, and left out where they have no whole record."
        )


def _is_complete(out: Path, name: str) -> bool:
    record = out / RECORDS_FOLDER / folder_name(name)
    try:
        return (record / RECORD_FILE).exists() and load_header(record).state == "complete"
    except DamagedRecord:
        return False


def _restricted(identity: dict[str, Any], kept: Collection[str]) -> dict[str, Any]:
    """Return what the run would be with some of its variants alone."""
    variants = {name: variant for name, variant in identity["plan"]["variants"].items() if name in kept}
    names = {variant["model"] for variant in variants.values()}
    models = {name: digest for name, digest in identity["models"].items() if name in names}
    return {**identity, "plan": {**identity["plan"], "variants": variants}, "models": models}


@contextmanager
def only_writer(out: Path) -> Iterator[None]:
    """Hold a folder, which exists, against any other run.

    Raises:
        UsageError: another process holds it.
    """
    with (out / ".lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UsageError(
                f"{out}: another qeval run is writing there; wait for it, or choose another --out."
            ) from None
        yield
