"""Both harnesses, each started as people start it: processes whose wall time is taken from outside."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import yaml

from qeval.errors import QevalError
from qeval.record import Record, folder_name, load_record
from qeval.runner.environment import available_memory_bytes
from scripts.replay_bench.results import AUTO, PLAIN, REPLAYED, SWEEP, Part, Result
from scripts.replay_bench.work import Work

ARM_FILE = Path(__file__).with_name("lm_eval_arm.py")
AUTO_LIMIT_S = 120.0
PACKAGES = ("lm_eval", "torch", "transformers", "accelerate", "bitsandbytes", "optimum-quanto")
DECODING: dict[str, dict[str, Any]] = {
    PLAIN: {"decode": "plain", "fidelity": False},
    REPLAYED: {"decode": "replay", "fidelity": False},
}
"""Keys of a plan by arm."""


class Machine(NamedTuple):
    """What both harnesses run with."""

    lm_eval_python: Path
    model: str
    model_folder: Path
    threads: int

    @property
    def environment(self) -> dict[str, str]:
        """Variables of every process: without those of waiting threads, a harness pays for what else the machine does.

        qeval sets them by itself (`runner/child.py`).
        """
        threads = {"OMP_NUM_THREADS": str(self.threads), "OMP_WAIT_POLICY": "passive", "GOMP_SPINCOUNT": "10000"}
        return {**os.environ, **threads, "TOKENIZERS_PARALLELISM": "false", "HF_HUB_OFFLINE": "1"}


def lm_eval_versions(python: Path) -> dict[str, str]:
    """Return the versions of what the other interpreter has.

    Raises:
        QevalError: it lacks one of the packages.
    """
    code = (
        f"import json; from importlib.metadata import version; print(json.dumps({{p: version(p) for p in {PACKAGES}}}))"
    )
    done = subprocess.run([python, "-P", "-c", code], capture_output=True, text=True, check=False)
    if done.returncode:
        raise QevalError(f"{python}: {_last_line(done.stderr)}. Install what the head of bench_replay.py lists.")
    found: dict[str, str] = json.loads(done.stdout)
    return found


def run_lm_eval(work: Work, sizes: Mapping[str, int | None], machine: Machine, *, arm: str, turn: int) -> Result:
    """Run lm-eval once a format, each in a process of its own.

    Args:
        work: the cases.
        sizes: the batch size of each format; None is `auto`, which has a time limit.
        machine: what runs it.
        arm: what the result is called.
        turn: the round.

    Raises:
        QevalError: it failed with a batch size that was given.
    """
    started = time.perf_counter()
    parts: dict[str, Part] = {}
    failure = ""
    for name, batch_size in sizes.items():
        found = _lm_eval_part(work, name, machine, batch_size)
        if isinstance(found, Part):
            parts[name] = found
        elif batch_size is None:
            failure = found
        else:
            raise QevalError(f"lm-eval, {work.name}, {name}, batch size {batch_size}: {found}")
    wall_s = time.perf_counter() - started
    (alike,) = set(sizes.values()) if arm == SWEEP else (None,)
    return Result(work=work.name, arm=arm, round=turn, batch_size=alike, wall_s=wall_s, parts=parts, failure=failure)


def _lm_eval_part(work: Work, name: str, machine: Machine, batch_size: int | None) -> Part | str:
    """Return what a format took, or why it came to no end."""
    memory = int(0.8 * (available_memory_bytes() or 2**40))
    with TemporaryDirectory() as folder:
        job = Path(folder) / "job.json"
        job.write_text(json.dumps(_job(work, name, machine, batch_size, memory)), encoding="utf-8")
        command = [str(machine.lm_eval_python), "-P", "-u", str(ARM_FILE), str(job)]
        environment = {key: value for key, value in machine.environment.items() if key != "PYTHONPATH"}
        try:
            done = subprocess.run(
                command,
                capture_output=True,
                text=True,
                check=False,
                env=environment,
                timeout=AUTO_LIMIT_S if batch_size is None else None,
            )
        except subprocess.TimeoutExpired as error:
            said = (error.stdout or b"").decode(errors="replace")
            return f"not done after {AUTO_LIMIT_S:.0f} s; last said: {_last_line(said) or 'nothing'}"
    if done.returncode:
        return _last_line(done.stderr) or f"ended with {done.returncode}"
    found = re.search(r"Determined Largest batch size: (\d+)", done.stdout)
    return Part(**json.loads(_last_line(done.stdout)), batch_size=int(found[1]) if found else batch_size)


def _job(work: Work, name: str, machine: Machine, batch_size: int | None, memory: int) -> dict[str, Any]:
    requests = [
        {"text": prompt.text, "token_ids": prompt.token_ids, "limit": prompt.case.max_new_tokens}
        for prompt in work.prompts
    ]
    return {
        "model": str(machine.model_folder),
        "format": name,
        "batch_size": batch_size or AUTO,
        "threads": machine.threads,
        "memory_bytes": memory,
        "requests": requests,
    }


def run_qeval(work: Work, formats: Sequence[str], machine: Machine, *, arm: str, turn: int) -> Result:
    """Run `qeval run` once, all formats in it.

    Raises:
        QevalError: it failed, or read other prompts than lm-eval gets.
    """
    with TemporaryDirectory() as temporary:
        folder = Path(temporary)
        plan = {
            "model": machine.model,
            "variants": list(formats),
            "baseline": formats[0],
            "suites": [str(work.suite)],
            "device": "cpu",
            "threads": machine.threads,
            "self_check": 0,
            **DECODING[arm],
        }
        (folder / "plan.yaml").write_text(yaml.safe_dump(plan), encoding="utf-8")
        command = [sys.executable, "-m", "qeval", "run", str(folder / "plan.yaml"), "--out", str(folder / "out")]
        started = time.perf_counter()
        done = subprocess.run(
            [*command, "--no-track", "--report-only"],
            capture_output=True,
            text=True,
            check=False,
            env=machine.environment,
        )
        wall_s = time.perf_counter() - started
        if done.returncode:
            raise QevalError(f"qeval run, {work.name}, {arm}: ended with {done.returncode}: {_last_line(done.stderr)}")
        parts = {name: _part(load_record(folder / "out/records" / folder_name(name)), work) for name in formats}
    return Result(work=work.name, arm=arm, round=turn, wall_s=wall_s, parts=parts)


def _part(record: Record, work: Work) -> Part:
    header, measured = record.header, record.header.measurements
    outcomes = record.by_case()
    found = [outcomes.get((work.name, prompt.case.id)) for prompt in work.prompts]
    read = [outcome and outcome.prompt_hash for outcome in found]
    if header.state != "complete" or read != [prompt.digest for prompt in work.prompts]:
        raise QevalError(f"{header.variant} on {work.name}: {header.state}, or other prompts than lm-eval gets.")
    pilot = measured.pilot
    beside = [measured.run_s, measured.score_s, *([pilot.follow_s, pilot.replay_s] if pilot else [])]
    return Part(
        load_s=measured.load_s,
        answer_s=sum(seconds for seconds in beside if seconds is not None),
        texts=tuple(outcome.text for outcome in found if outcome),
        replay=header.replay,
        pilot=pilot,
    )


def _last_line(text: str) -> str:
    lines = [line for line in re.split(r"[\r\n]+", text) if line.strip()]
    return lines[-1].strip() if lines else ""
