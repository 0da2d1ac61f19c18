"""Rounds that disturb a job on the real model, and what must be left: the right exit code, and a record like any other.

A round disturbs one command (`run`, `compare`, `track push`) in one way: `kill -9`, Ctrl-C, broken streams, a full
disk. What was cut off is then asked for once more, as a person would.
"""

from __future__ import annotations

import json
import random
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from qeval.errors import ExitCode
from qeval.record import OUTCOMES_FILE, load_record
from tests.cli.stream_faults import FAULTS, run_with
from tests.real.conftest import write_plan
from tests.real.short_suite import write_short_suite

COMMANDS = ("run", "compare", "push")
WAYS = ("kill", "interrupt", "streams", "full disk")
VARIANTS = ("bf16", "nf4")
"""In both, the composition of a batch changes results: a resume that answers other batches would show."""
_LIMIT_S = 600.0
_SPOILT = [pair for pair in product(("", *FAULTS), repeat=2) if any(pair)]
_DISKS = (16, 40, 96, 200, 400)
"""Sizes of a disk that becomes full, in KiB."""


class Round(NamedTuple):
    """What is disturbed, and how."""

    number: int
    command: str
    way: str


class Outcome(NamedTuple):
    """What a round ended with."""

    round: Round
    codes: tuple[int, ...]
    """Of the disturbed command and, where it was cut off, of the next one that finished it."""
    faults: tuple[str, ...]
    """What is wrong; empty: nothing."""


class Undisturbed(NamedTuple):
    """The same job without a disturbance, and what it ended with."""

    plan: Path
    out: Path
    seconds: dict[str, float]
    codes: dict[str, int]


def rounds(count: int, seed: int) -> list[Round]:
    """Return so many rounds, all commands in all ways as evenly as can be, in a seeded order."""
    pairs = list(product(COMMANDS, WAYS))
    random.Random(seed).shuffle(pairs)
    return [Round(number, *pairs[number % len(pairs)]) for number in range(count)]


def prepare(folder: Path, n_cases: int) -> Undisturbed:
    """Run, compare and push once without a disturbance."""
    suite = write_short_suite(folder, n_cases)
    plan = write_plan(folder, variants=list(VARIANTS), baseline="bf16", suites=[str(suite)], batch_size=2)
    whole = Undisturbed(plan, folder / "whole", {}, {})
    for command in COMMANDS:
        started = time.monotonic()
        target = folder / "whole-report" if command == "compare" else whole.out
        done = subprocess.run(_command(command, plan, whole.out, target), capture_output=True, text=True, check=False)
        whole.seconds[command] = time.monotonic() - started
        whole.codes[command] = done.returncode
        if done.returncode in {ExitCode.USAGE, ExitCode.INTERNAL, ExitCode.INCOMPLETE}:
            raise AssertionError(f"the undisturbed {command} ended with {done.returncode}: {done.stderr}")
    return whole


def disturb(one: Round, whole: Undisturbed, folder: Path, chance: random.Random) -> Outcome:
    """Play a round in a folder of its own, which does not exist yet."""
    folder.mkdir()
    if one.way == "full disk":
        with _small_disk(folder / "disk", chance.choice(_DISKS)) as (disk, limit):
            codes, faults = _play(one, whole, disk, chance, limit)
            # Room is made, and the work goes on elsewhere with what was left.
            moved = Path(shutil.copytree(disk, folder / "room"))
    else:
        moved = folder / "room"
        moved.mkdir()
        codes, faults = _play(one, whole, moved, chance, None)
    if codes[0] != whole.codes[one.command]:
        done = subprocess.run(
            _command(one.command, whole.plan, *_places(one, whole, moved)), capture_output=True, text=True, check=False
        )
        codes.append(done.returncode)
        if done.returncode != whole.codes[one.command]:
            faults.append(f"asked once more it ended with {done.returncode}: {done.stderr[-500:]}")
    faults.extend(_differences(one, whole, moved))
    return Outcome(one, tuple(codes), tuple(faults))


def _play(
    one: Round, whole: Undisturbed, room: Path, chance: random.Random, limit: int | None
) -> tuple[list[int], list[str]]:
    """Disturb the command; return its exit code, and what is wrong with that."""
    expected = whole.codes[one.command]
    source, target = _places(one, whole, room)
    command = _command(one.command, whole.plan, source, target)
    if one.way == "streams":
        stdout, stderr = chance.choice(_SPOILT)
        code = run_with(command[3:], stdout=stdout, stderr=stderr).code
        return [code], [] if code == expected else [f"ended with {code}, not {expected}"]
    if one.way == "full disk":
        done = subprocess.run(command, capture_output=True, text=True, check=False, preexec_fn=_limited(limit))
        right = done.returncode in {expected, ExitCode.USAGE, ExitCode.INCOMPLETE}
        said = done.stdout + done.stderr
        if right and done.returncode != expected and "space" not in said and "too large" not in said:
            return [done.returncode], [f"does not say that the disk is full: {said[-300:]}"]
        return [done.returncode], [] if right else [f"ended with {done.returncode}: {said[-500:]}"]
    sent = signal.SIGKILL if one.way == "kill" else signal.SIGINT
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        process.wait(chance.uniform(0.05, 0.95) * whole.seconds[one.command])
    except subprocess.TimeoutExpired:
        process.send_signal(sent)
    code = process.wait(_LIMIT_S)
    allowed = {expected, -signal.SIGKILL} if one.way == "kill" else {expected, ExitCode.INTERRUPTED}
    _wait_for_orphans(room)
    return [code], [] if code in allowed else [f"ended with {code}, not {sorted(allowed)}"]


def _places(one: Round, whole: Undisturbed, room: Path) -> tuple[Path, Path]:
    """Return the folder of the run, and where the command writes."""
    if one.command == "compare":
        return whole.out, room / "report"
    if one.command == "push" and not (room / "out").exists():
        room.mkdir(exist_ok=True)
        shutil.copytree(whole.out, room / "out", ignore=shutil.ignore_patterns("mlflow*", "mlruns"))
    return room / "out", room / "out"


def _command(command: str, plan: Path, run: Path, target: Path) -> list[str]:
    start = [sys.executable, "-m", "qeval"]
    if command == "run":
        more = ["--resume"] if (target / "plan.json").exists() else []
        return [*start, "run", str(plan), "--out", str(target), "--no-track", *more]
    if command == "compare":
        return [*start, "compare", *(str(run / "records" / name) for name in VARIANTS), "--out", str(target)]
    return [*start, "track", "push", str(run)]


def _differences(one: Round, whole: Undisturbed, room: Path) -> Iterator[str]:
    """Yield how what a round left differs from what is left undisturbed."""
    if one.command == "compare":
        if _rulings(room / "report") != _rulings(whole.out.parent / "whole-report"):
            yield "the verdicts differ"
        return
    if comparable(room / "out") != comparable(whole.out):
        yield "the record differs"
    if _rulings(room / "out") != _rulings(whole.out):
        yield "the verdicts differ"
    if one.command == "push" and _tracked(room / "out") != _tracked(whole.out):
        yield f"the store holds {_tracked(room / 'out')}"


def comparable(out: Path) -> dict[str, Any]:
    """Return everything in the records but what the machine measured."""
    found = {}
    for folder in sorted((out / "records").iterdir()):
        record = load_record(folder)
        found[folder.name] = {
            "header": record.header.model_dump(mode="json", exclude={"measurements"}),
            "counts": [record.header.measurements.prompt_tokens, record.header.measurements.generated_tokens],
            "cases": [case.model_dump(mode="json") for case in record.cases],
            "outcomes": (folder / OUTCOMES_FILE).read_text(encoding="utf-8"),
        }
    return found


def _rulings(folder: Path) -> Any:
    report = json.loads((folder / "verdict.json").read_text("utf-8"))
    return [
        (one["decision"], [(v["slice"], v["ruling"], v["n"]) for v in one["verdicts"]]) for one in report["candidates"]
    ]


def _tracked(out: Path) -> list[tuple[str, str]]:
    """Return name and state of each tracked run, in order."""
    import mlflow

    client = mlflow.MlflowClient(f"sqlite:///{out / 'mlflow.db'}")
    experiments = [experiment.experiment_id for experiment in client.search_experiments()]
    runs = client.search_runs(experiments)
    return sorted((run.data.tags.get("qeval.variant", ""), run.info.status) for run in runs)


@contextmanager
def _small_disk(folder: Path, kib: int) -> Iterator[tuple[Path, int | None]]:
    """Give a disk of some KiB, or where none may be mounted a folder and the limit of a file's size, in bytes."""
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={kib}k", "tmpfs", str(folder)], capture_output=True, check=False
    )
    try:
        yield folder, None if mounted.returncode == 0 else kib * 1024
    finally:
        if mounted.returncode == 0:
            subprocess.run(["umount", "-l", str(folder)], check=True)


def _limited(limit: int | None) -> Any:
    if limit is None:
        return None
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))


def _wait_for_orphans(room: Path) -> None:
    """Wait until a variant's process has noticed that its parent is gone."""
    before = -1
    while before != (now := _size(room)):
        before = now
        time.sleep(1.0)


def _size(room: Path) -> int:
    return sum(path.stat().st_size for path in room.rglob("*") if path.is_file())
