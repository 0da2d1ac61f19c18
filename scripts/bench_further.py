"""Time a further candidate by how much of the baseline's answers it keeps: `python scripts/bench_further.py`.

The baseline (fp32) is run plainly over the built-in suites at smoke. Then it runs again as its own candidate, replaying
answers in which some cases were given another token at a random place, so that it agrees up to there and decodes the
rest. So the format costs the same, and what differs is replay alone. Arms take turns, in reverse order every second
round; prints a Markdown row an arm, medians over rounds of what each took in share of the baseline's own run: reading
prompts, following answers, replaying and decoding. "Followed for fidelity" leaves following out, as in a run that
measures fidelity, where the same pass is made either way.
"""

from __future__ import annotations

import argparse
import random
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from qeval.engines.replay import BatchReading
from qeval.errors import QevalError
from qeval.jsonl import dumps, write_atomic
from qeval.models.locate import resolve
from qeval.outcome import Outcome
from qeval.record import OUTCOMES_FILE, load_outcomes, load_record
from qeval.rendering.renderer import PLAIN_RULES
from qeval.runner.answer import run_task
from qeval.runner.plan import PlanFile, resolve_plan
from qeval.runner.run import Agreed, task_of
from qeval.runner.task import Task

MODEL = "smollm2-135m"
OTHER_TOKEN = 5
SHARES = (1.0, 0.9, 0.8, 0.5)


class Took(NamedTuple):
    """One run of one arm."""

    run_s: float
    follow_s: float
    same: int
    """Cases with the baseline's own tokens."""
    n_cases: int


class Follows:
    """Times the following of answers."""

    def __init__(self) -> None:
        """Count nothing yet."""
        self.seconds = 0.0

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Time inside the block."""
        before = BatchReading.follow

        def follow(*args: Any) -> Any:  # noqa: ANN401
            started = time.perf_counter()
            try:
                return before(*args)
            finally:
                self.seconds += time.perf_counter() - started

        BatchReading.follow = follow  # type: ignore[method-assign, assignment]
        yield
        BatchReading.follow = before  # type: ignore[method-assign]


def with_differences(outcomes: list[Outcome], share: float, seed: int) -> tuple[list[Outcome], float]:
    """Give some cases another token at a random place; return them and the share of tokens before it, of all."""
    random_of = random.Random(seed)
    altered, agreed = [], 0
    for outcome in outcomes:
        tokens = outcome.token_ids
        # A place drawn evenly leaves half of an answer on the average.
        place = int(random_of.random() * len(tokens)) if random_of.random() < 2 * (1 - share) else len(tokens)
        agreed += place
        tokens = (*tokens[:place], *(OTHER_TOKEN for _ in tokens[place : place + 1]), *tokens[place + 1 :])
        altered.append(outcome.model_copy(update={"token_ids": tokens}))
    return altered, agreed / sum(len(outcome.token_ids) for outcome in outcomes)


def plant(baseline: Path, folder: Path, share: float) -> float:
    """Write a copy of a baseline's record whose answers differ; return the share of tokens that agree."""
    shutil.copytree(baseline, folder)
    altered, agreed = with_differences(load_outcomes(baseline), share, seed=0)
    write_atomic(folder / OUTCOMES_FILE, "".join(f"{dumps(one.model_dump(mode='json'))}\n" for one in altered))
    return agreed


def run_once(task: Task, tokens: dict[tuple[str, str], tuple[int, ...]]) -> Took:
    """Run a task in this process; `tokens` are those of the baseline."""
    shutil.rmtree(task.folder, ignore_errors=True)
    task.folder.mkdir(parents=True)
    follows = Follows()
    with follows.watching():
        run_task(task, lambda said: None, lambda: None, time.perf_counter)
    record = load_record(task.folder)
    run_s = record.header.measurements.run_s
    if run_s is None:
        raise QevalError(f"{task.folder}: no batch was answered, so there is nothing to time.")
    same = sum(tokens.get((o.suite, o.case)) == o.token_ids for o in record.outcomes)
    return Took(run_s, follows.seconds, same, len(record.outcomes))


def measure(suites: str, rounds: int, folder: Path) -> tuple[dict[float, float], dict[float | None, list[Took]]]:
    """Return the agreed share of each arm, and what each took, the baseline under None."""
    plan = resolve_plan(PlanFile(model=MODEL, variants=("fp32",), suites=suites, fidelity=False, self_check=0))
    settled = Agreed({}, PLAIN_RULES, {}, {})
    task = task_of(plan, plan.baseline, resolve(MODEL), folder, agreed=settled, resume=False)
    # What runs first in a process loads code and tables: once for all.
    run_once(task, {})
    tokens = {(o.suite, o.case): o.token_ids for o in load_outcomes(task.folder)}
    agreed = {share: plant(task.folder, folder / f"agreed-{share}", share) for share in SHARES}
    arms: list[float | None] = [None, *SHARES]
    took: dict[float | None, list[Took]] = {arm: [] for arm in arms}
    for number in range(rounds):
        for arm in arms[:: -1 if number % 2 else 1]:
            own = task._replace(folder=folder / "candidate")
            if arm is not None:
                own = own._replace(decode="replay", baseline=folder / f"agreed-{arm}")
            took[arm].append(run_once(own, tokens))
    return agreed, took


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--suites", default="all", help="names, comma-separated (default: all)")
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        agreed, took = measure(given.suites, given.rounds, Path(folder))
    whole = [one.run_s for one in took[None]]
    print(f"The baseline's own run: {median(whole):.1f} s.\n")
    print("| agreed | of the baseline's run | followed for fidelity | the baseline's tokens |\n|---|---|---|---|")
    for share, value in agreed.items():
        runs = took[share]
        run = median(one.run_s / base for one, base in zip(runs, whole, strict=True))
        rest = median((one.run_s - one.follow_s) / base for one, base in zip(runs, whole, strict=True))
        same, n = min((one.same, one.n_cases) for one in runs)
        print(f"| {value:.0%} | {run:.2f} | {rest:.2f} | {same} of {n} |")


if __name__ == "__main__":
    main()
