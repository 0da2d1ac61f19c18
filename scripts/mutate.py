"""How many planted faults the tests see: `python scripts/mutate.py --out mutants.jsonl`. Hours, by hand.

Each mutant of the decision path (what makes a verdict, a limit, a level, a resumed run, a record) and a seeded sample
of the rest is tried against its module's own tests, and where these do not see it, against all fast tests of its
folder.
Needs `pip install -c constraints.txt -e '.[mutation]'`. A run that was ended goes on where it stopped.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from scripts.mutation import worker
from scripts.mutation.mutants import Mutant, mutants_of
from scripts.mutation.own_tests import folder_tests, own_tests

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))


DECISION_PATH = (
    "qeval/compare/*.py",
    "qeval/record/*.py",
    *(f"qeval/runner/{name}.py" for name in ("claim", "resume", "answer", "case_info", "laps")),
    "qeval/errors.py",
    "qeval/outcome.py",
    "qeval/independence.py",
)
COPIED = ("qeval", "tests", "suites", "scripts", "docs", "examples", "pyproject.toml", "README.md", "constraints.txt")


def main() -> None:
    """Try mutants, print the score, and list those that survived."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--out", type=Path, required=True, help="a .jsonl file: one line a mutant; read again on resume"
    )
    parser.add_argument("--seed", type=int, default=13)
    parser.add_argument("--rest", type=int, default=500, help="mutants of the other modules")
    parser.add_argument("--decision", type=int, help="draw so many of the decision path; default: all")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--hours", type=float, default=6.0, help="stop after that time; what is left is said")
    given = parser.parse_args()
    wanted = chosen(given.seed, given.decision, given.rest)
    done = {Mutant(*row["mutant"]) for row in _rows(given.out)}
    left = [mutant for mutant in wanted if mutant not in done]
    print(f"{len(wanted)} mutants, {len(left)} to try")
    try_all(left, given.out, given.workers, time.monotonic() + given.hours * 3600)
    report(_rows(given.out), wanted)


def try_all(left: Sequence[Mutant], out: Path, workers: int, deadline: float) -> None:
    """Try mutants in several processes, each with a copy of the repository, and write what came of each."""
    # Spawned, since a worker forks in turn, and forks of a process with threads could hang.
    context = get_context("spawn")
    rows = context.Queue()
    processes = [
        context.Process(target=_work, args=(left[number::workers], deadline, rows)) for number in range(workers)
    ]
    for process in processes:
        process.start()
    running = workers
    with out.open("a", encoding="utf-8") as lines:
        while running:
            row = rows.get()
            running -= row is None
            if row is not None:
                lines.write(json.dumps(row) + "\n")
                lines.flush()
    for process in processes:
        process.join()


def _work(mutants: Sequence[Mutant], deadline: float, rows: Any) -> None:  # noqa: ANN401 - a queue of a context
    try:
        worker.load_libraries()
        with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
            copy = _copied(Path(folder))
            trial = Trial(copy)
            for mutant in mutants:
                if time.monotonic() > deadline:
                    return
                rows.put({"mutant": mutant, "found": trial.of(mutant)})
    finally:
        rows.put(None)


class Trial:
    """Tries mutants in one copy of the repository; remembers how long tests take without one."""

    def __init__(self, copy: Path) -> None:
        """Take the copy."""
        self._copy = copy
        self._took: dict[tuple[str, ...], float | None] = {}

    def of(self, mutant: Mutant) -> str:
        """Return `killed`, `killed by the folder`, `survived`, `same program`, or `no tests pass`."""
        for tests, found in (
            (own_tests(self._copy, mutant.module), "killed"),
            (folder_tests(self._copy, mutant.module), "killed by the folder"),
        ):
            took = self._seconds(tests)
            if took is None:
                return "no tests pass"
            survived = worker.survives(self._copy, mutant, tests, took)
            if survived is None:
                return "same program"
            if not survived:
                return found
        return "survived"

    def _seconds(self, tests: tuple[str, ...]) -> float | None:
        if tests not in self._took:
            self._took[tests] = worker.check(self._copy, tests)
        return self._took[tests]


def _copied(folder: Path) -> Path:
    copy = folder / "repository"
    copy.mkdir()
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
        elif source.exists():
            shutil.copy(source, copy / name)
    shared = ROOT.parent / "shared"
    if shared.exists():
        (folder / "shared").symlink_to(shared.resolve())
    return copy


def chosen(seed: int, decision: int | None, rest: int) -> list[Mutant]:
    """Return the mutants of a run in a seeded order, so that what was tried of it when it ended is a sample."""
    deciding = sorted({file.relative_to(ROOT).as_posix() for pattern in DECISION_PATH for file in ROOT.glob(pattern)})
    others = sorted(file.relative_to(ROOT).as_posix() for file in (ROOT / "qeval").rglob("*.py"))
    draw = random.Random(seed)
    first = [mutant for module in deciding for mutant in mutants_of(ROOT, module)]
    draw.shuffle(first)
    second = [mutant for module in others if module not in deciding for mutant in mutants_of(ROOT, module)]
    both = first[:decision] + draw.sample(second, min(rest, len(second)))
    draw.shuffle(both)
    return both


def report(rows: Sequence[dict[str, Any]], wanted: Sequence[Mutant]) -> None:
    """Print the score by module, and each survivor."""
    found = {Mutant(*row["mutant"]): row["found"] for row in rows}
    tried = [mutant for mutant in wanted if mutant in found]
    counts = Counter(found[mutant] for mutant in tried)
    real = sum(n for name, n in counts.items() if name not in {"same program", "no tests pass"})
    killed = real - counts["survived"]
    print(f"{len(tried)} of {len(wanted)} tried: {dict(counts)}")
    print(f"score {killed} of {real} ({100 * killed / max(1, real):.1f} %)")
    for mutant in sorted(mutant for mutant in tried if found[mutant] in {"survived", "no tests pass"}):
        print(f"{mutant.module}:{mutant.line} {mutant.operator} #{mutant.occurrence}: {found[mutant]}")


def _rows(out: Path) -> list[dict[str, Any]]:
    lines = out.read_text(encoding="utf-8").splitlines() if out.exists() else []
    return [json.loads(line) for line in lines if line.endswith("}")]


if __name__ == "__main__":
    main()
