"""What a damaged model says, and how much of it is called degenerate: `python scripts/damaged_answers.py`.

Plants damage of several kinds in copies of the embedded model, asks each the questions of damaged_answers.yaml through
the engine, and prints a row for each: answers, those cut at the limit of 128 tokens, those called degenerate. Takes
about 20 minutes on two quiet cores. The answers stay in --out, as records.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import yaml

sys.path.insert(0, str(Path(__file__).parents[1]))

from qeval.jsonl import dumps, read_text
from qeval.models.locate import resolve
from qeval.record import load_record
from qeval.runner.plan import PlanFile, VariantEntry, resolve_plan
from qeval.runner.run import run_plan
from qeval.selftest.damage import Damage, damaged_copy, noise, projections, two_bits
from qeval.suites.answers import grade_case
from qeval.suites.load import load_suite
from tests.quiet import Quiet

if TYPE_CHECKING:
    from torch import Tensor

MODEL = "smollm2-135m"
BASELINE = "fp32"
LIMIT = 128


class Planted(NamedTuple):
    """Damage to the matrices with some names."""

    what: str
    names: str
    damage: Callable[[], Damage]
    """Makes the damage; torch is imported only then."""


def _three_values(weight: Tensor) -> Tensor:
    scale = weight.abs().mean(dim=1, keepdim=True)
    return (weight / scale).round().clamp(-1, 1) * scale


_EVERY = projections(range(30))
_DOWN = r"model\.layers\.\d+\.mlp\.down_proj\.weight"
DAMAGES = {
    "noise20": Planted("noise of 0.2 standard deviations", _EVERY, lambda: noise(0.2)),
    "noise30": Planted("noise of 0.3 standard deviations", _EVERY, lambda: noise(0.3)),
    "noise100": Planted("noise of 1 standard deviation", _EVERY, lambda: noise(1.0)),
    "twobits": Planted("weights of two bits", _EVERY, lambda: two_bits),
    "ternary": Planted("weights of three values", _EVERY, lambda: _three_values),
    "zero-mid": Planted("layers 10 to 12 made zero", projections(range(10, 13)), lambda: lambda weight: weight * 0),
    "zero-late": Planted("layers 22 to 28 made zero", projections(range(22, 29)), lambda: lambda weight: weight * 0),
    "down2": Planted("down projections doubled", _DOWN, lambda: lambda weight: weight * 2),
}


def write_suite(path: Path) -> Path:
    """Write the questions as a suite whose grader any answer with a word passes; return its file."""
    questions = yaml.safe_load(read_text(Path(__file__).with_suffix(".yaml")))
    grader = {"kind": "regex", "pattern": r"\w"}
    cases = [
        {"id": f"q{n:02}", "prompt": question, "graders": [grader], "max_new_tokens": LIMIT}
        for n, question in enumerate(questions)
    ]
    path.write_text("".join(f"{dumps(case)}\n" for case in cases), encoding="utf-8")
    return path


def run(out: Path, copies: Path, threads: int | None) -> Path:
    """Ask the model and its damaged copies; return the suite's file."""
    out.mkdir(parents=True, exist_ok=True)
    suite = write_suite(out / "questions.jsonl")
    model = resolve(MODEL, progress=Quiet().said_of_models).path
    entries = [
        VariantEntry(
            name=name,
            format=BASELINE,
            model=str(damaged_copy(model, copies / name, planted.names, planted.damage())),
        )
        for name, planted in DAMAGES.items()
    ]
    plan = PlanFile(
        model=MODEL,
        variants=(BASELINE, *entries),
        suites=(str(suite),),
        fidelity=False,
        decode="plain",
        self_check=0,
        threads=threads,
    )
    run_plan(resolve_plan(plan), out, Quiet())
    return suite


def table(out: Path, suite: Path) -> str:
    """Return the table as Markdown, from the records in a folder, graded as the rule is now."""
    cases = {case.id: case for case in load_suite(suite).cases}
    rows = ["| what was damaged | answers | cut | called degenerate |", "|---|---|---|---|"]
    for name in (BASELINE, *DAMAGES):
        outcomes = [grade_case(one, cases[one.case]) for one in load_record(out / "records" / name).outcomes]
        what = DAMAGES[name].what if name in DAMAGES else "nothing"
        cut = sum(one.finish == "length" for one in outcomes)
        called = sum(one.failure == "degenerate" for one in outcomes)
        rows.append(f"| {what} | {len(outcomes)} | {cut} | {called} |")
    return "\n".join(rows)


def main() -> None:
    """Run, or read what an earlier run left, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("damaged-answers"))
    parser.add_argument("--threads", type=int)
    given = parser.parse_args()
    suite = given.out / "questions.jsonl"
    if not (given.out / "records").is_dir():
        with tempfile.TemporaryDirectory() as copies:
            suite = run(given.out, Path(copies), given.threads)
    print(table(given.out, suite))


if __name__ == "__main__":
    main()
