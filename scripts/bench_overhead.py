"""Time the harness over the model's own forward passes: `python scripts/bench_overhead.py [--rounds 3]`.

Runs a variant's task as `qeval run` does, in this process, with every forward pass timed, and prints a Markdown row a
round: seconds of the run (reading and answering; loading apart), seconds inside forward passes, and what is left over
them: batching, padding, caches, transformers' generate() around each step, stop texts, grading, writing.
"""

from __future__ import annotations

import argparse
import functools
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from transformers import LlamaForCausalLM
from transformers.models.llama.modeling_llama import LlamaModel

from qeval.models.locate import resolve
from qeval.record import load_record
from qeval.rendering.renderer import PLAIN_RULES
from qeval.runner.answer import run_task
from qeval.runner.plan import PlanFile, resolve_plan
from qeval.runner.run import Agreed, task_of
from qeval.runner.task import Said, Stage

MODEL = "smollm2-135m"


class Passes:
    """Times forward passes of a class of models, the outermost alone."""

    def __init__(self) -> None:
        """Count nothing yet."""
        self.seconds = 0.0
        self._depth = 0

    @contextmanager
    def watching(self, kinds: Sequence[Any]) -> Iterator[None]:
        """Time every call of some classes' forward inside the block."""
        before = [kind.forward for kind in kinds]
        for kind in kinds:
            kind.forward = self._timed(kind.forward)
        yield
        for kind, forward in zip(kinds, before, strict=True):
            kind.forward = forward

    def _timed(self, forward: Any) -> Any:  # noqa: ANN401 - transformers is untyped

        @functools.wraps(forward)
        def timed(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
            self._depth += 1
            started = time.perf_counter()
            try:
                return forward(*args, **kwargs)
            finally:
                self._depth -= 1
                if not self._depth:
                    self.seconds += time.perf_counter() - started

        return timed


def run_once(suites: str, out: Path) -> tuple[float, float]:
    """Run fp32 over some suites at smoke in this process; return seconds of the run and inside forward passes."""
    file = PlanFile(model=MODEL, variants=("fp32",), suites=suites, fidelity=False, self_check=0)
    plan = resolve_plan(file)
    agreed = Agreed({}, PLAIN_RULES, {}, {})
    task = task_of(plan, plan.baseline, resolve(MODEL), out, agreed=agreed, resume=False)
    task.folder.mkdir(parents=True)
    passes = Passes()

    def say(said: Said) -> None:
        # The batch-mate test before is no part of the run.
        if said == Stage("answering"):
            passes.seconds = 0.0

    with passes.watching((LlamaModel, LlamaForCausalLM)):
        run_task(task, say, lambda: None, time.perf_counter)
    run_s = load_record(task.folder).header.measurements.run_s
    assert run_s is not None
    return run_s, passes.seconds


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--suites", default="all", help="names, comma-separated (default: all)")
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    print("| round | run, s | forward passes, s | over them |\n|---|---|---|---|")
    for number in range(given.rounds):
        with tempfile.TemporaryDirectory() as folder:
            run_s, inside = run_once(given.suites, Path(folder))
        print(f"| {number + 1} | {run_s:.1f} | {inside:.1f} | {run_s / inside - 1:.1%} |", flush=True)


if __name__ == "__main__":
    main()
