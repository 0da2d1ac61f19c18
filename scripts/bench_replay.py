"""qeval beside lm-evaluation-harness (its HF backend) on the same prompts: several precisions of one model.

    python -m scripts.bench_replay --out FILE --lm-eval-python PATH [--rounds 3] [--cases 32] [--formats fp32,...]
    python -m scripts.bench_replay --out FILE --table

PATH is an interpreter of its own, made with the versions that qeval runs with:

    python -m venv X
    X/bin/pip install torch==2.13.0 transformers==5.24.0 lm_eval==0.4.13 accelerate \
        bitsandbytes==0.50.2 optimum-quanto==0.2.7

Two sets of cases: `short` prompts, and `shared`, several questions about each document. Both harnesses read the same
token ids, decode greedily, with the same limits, threads and thread settings. lm-eval runs each format at the batch
size that is best for it on a set, by a sweep; qeval plans its own. Arms take turns, in reverse order every second
round. Each result is a line of FILE: the same command goes on where it was cut, and prints Markdown when all is there.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from qeval.errors import QevalError, UsageError
from qeval.models.locate import resolve
from qeval.runner.environment import package_versions, read_environment
from qeval.suites.load import load_suite
from scripts.replay_bench.harnesses import Machine, lm_eval_versions, run_lm_eval, run_qeval
from scripts.replay_bench.results import (
    AUTO,
    LM_EVAL,
    QEVAL_ARMS,
    SWEEP,
    Result,
    Setting,
    WorkSize,
    append,
    begin,
    load,
)
from scripts.replay_bench.tables import best_batch_size, show
from scripts.replay_bench.work import Work, renderer_of, write_works

FORMATS = "fp32,bf16,int8,nf4,quanto-int8"
BATCH_SIZES = (1, 8, 32)


def options() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True, help="file of results, JSON lines")
    parser.add_argument("--lm-eval-python", type=Path, help="interpreter that has lm_eval")
    parser.add_argument("--table", action="store_true", help="only print the tables of what is in the file")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--cases", type=int, default=32, help="cases of each set at most (default 32)")
    parser.add_argument("--formats", default=FORMATS, help=f"the baseline first (default {FORMATS})")
    parser.add_argument("--model", default="smollm2-135m")
    parser.add_argument("--threads", type=int, default=2)
    given = parser.parse_args()
    if not given.table and given.lm_eval_python is None:
        parser.error("--lm-eval-python is missing: give the interpreter, or --table")
    return given


def measure(given: argparse.Namespace, folder: Path) -> None:
    """Run whatever the file does not hold yet."""
    model = resolve(given.model)
    works = write_works(folder, renderer_of(model), given.cases)
    formats = tuple(given.formats.split(","))
    machine = Machine(given.lm_eval_python, given.model, model.path, given.threads)
    setting = Setting(
        model=given.model,
        formats=formats,
        threads=given.threads,
        processor=read_environment("cpu", given.threads).processor,
        versions={"qeval": package_versions(), LM_EVAL: lm_eval_versions(given.lm_eval_python)},
        works={work.name: _size(work) for work in works},
    )
    done = list(begin(given.out, setting).results)
    for work in works:
        for result in _swept(work, formats, machine, done):
            _keep(given.out, done, result)
    for turn in range(given.rounds):
        for work in works:
            for result in _round(work, formats, machine, done, turn):
                _keep(given.out, done, result)


def _size(work: Work) -> WorkSize:
    return WorkSize(
        cases=len(work.prompts),
        prompt_tokens=work.prompt_tokens,
        distinct_tokens=work.distinct_tokens,
        digest=load_suite(work.suite).digest,
    )


def _swept(work: Work, formats: tuple[str, ...], machine: Machine, done: list[Result]) -> Iterator[Result]:
    """Yield lm-eval at each batch size in every format, then its baseline at `auto`."""
    there = {result.key for result in done}
    for size in BATCH_SIZES:
        if (work.name, SWEEP, 0, size) not in there:
            yield run_lm_eval(work, dict.fromkeys(formats, size), machine, arm=SWEEP, turn=0)
    if (work.name, AUTO, 0, None) not in there:
        yield run_lm_eval(work, {formats[0]: None}, machine, arm=AUTO, turn=0)


def _round(work: Work, formats: tuple[str, ...], machine: Machine, done: list[Result], turn: int) -> Iterator[Result]:
    there = {result.key for result in done}
    arms = (LM_EVAL, *QEVAL_ARMS)
    for arm in arms[::-1] if turn % 2 else arms:
        if (work.name, arm, turn, None) in there:
            continue
        if arm == LM_EVAL:
            best = {name: best_batch_size(done, work.name, name) for name in formats}
            yield run_lm_eval(work, best, machine, arm=LM_EVAL, turn=turn)
        else:
            yield run_qeval(work, formats, machine, arm=arm, turn=turn)


def _keep(path: Path, done: list[Result], result: Result) -> None:
    append(path, result)
    done.append(result)
    size = f", batch size {result.batch_size}" if result.batch_size else ""
    print(f"{result.work}, {result.arm}{size}, round {result.round}: {result.wall_s:.1f} s", file=sys.stderr)


def main() -> int:
    """Measure what is missing, and print the tables."""
    given = options()
    try:
        if not given.table:
            with TemporaryDirectory() as folder:
                measure(given, Path(folder))
        measured = load(given.out)
        if measured is None:
            raise UsageError(f"{given.out}: holds no results. Run without --table first.")
    except QevalError as error:
        print(f"{error}", file=sys.stderr)
        return 1
    show(measured)
    return 0


if __name__ == "__main__":
    sys.exit(main())
