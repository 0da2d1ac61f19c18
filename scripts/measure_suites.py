"""Measure how hard the built-in suites are for a model: `python scripts/measure_suites.py`.

Runs one variant over the suites and prints, per suite, cases, clusters, effective n, prompt tokens, answer tokens and
pass rates by kind and difficulty. The rates in `suites/*/README.md` come from here. With `--record DIR` it reads a
record that `qeval run` has left instead of running anything.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import defaultdict
from collections.abc import Collection, Sequence
from pathlib import Path

from qeval.compare.clusters import design_effect
from qeval.record import Record, load_record
from qeval.runner.plan import PlanFile, resolve_plan
from qeval.runner.process import Ended
from qeval.runner.run import run_plan
from qeval.runner.task import Said
from qeval.units import duration, percent

TAGS = ("difficulty", "kind")


class Terse:
    """Tells only when a model is prepared, and how a variant ended."""

    def said_of_models(self, text: str) -> None:
        """Print to stderr."""
        print(text, file=sys.stderr)

    def said_of_judge(self, text: str) -> None:
        """Say nothing: these plans have none."""

    def said_of_cases(self, text: str) -> None:
        """Print to stderr."""
        print(text, file=sys.stderr)

    def warned(self, text: str) -> None:
        """Print to stderr."""
        print(text, file=sys.stderr)

    def variant_started(self, name: str) -> None:
        """Say nothing."""

    def heard(self, name: str, said: Said) -> None:
        """Say nothing."""

    def variant_ended(self, name: str, ended: Ended) -> None:
        """Print to stderr."""
        print(f"{name}: {ended.state} {ended.detail}", file=sys.stderr)


def main() -> None:
    """Run or read, then print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="smollm2-135m")
    parser.add_argument("--variant", default="fp32")
    parser.add_argument("--suites", default="all")
    parser.add_argument("--size", default="smoke", choices=["smoke", "standard", "full"])
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--record", type=Path)
    given = parser.parse_args()
    if given.record is not None:
        print(table(load_record(given.record)))
        return
    suites = given.suites if given.suites == "all" else tuple(given.suites.split(","))
    plan = PlanFile(
        model=given.model,
        variants=(given.variant,),
        baseline=given.variant,
        suites=suites,
        size=given.size,
        batch_size=given.batch_size,
        self_check=0,
    )
    with tempfile.TemporaryDirectory() as folder:
        (run,) = run_plan(resolve_plan(plan), Path(folder), Terse())
        print(table(load_record(run.folder)))


def table(record: Record) -> str:
    """Return the figures of a record as Markdown."""
    outcomes = record.by_case()
    passed: dict[tuple[str, str], list[bool]] = defaultdict(list)
    prompt_tokens: dict[str, int] = defaultdict(int)
    answer_tokens: dict[str, int] = defaultdict(int)
    clusters: dict[str, dict[str, list[bool]]] = defaultdict(lambda: defaultdict(list))
    for case in record.cases:
        outcome = outcomes[case.suite, case.case]
        clusters[case.suite][case.cluster].append(bool(outcome.passed()))
        prompt_tokens[case.suite] += outcome.prompt_tokens or 0
        answer_tokens[case.suite] += len(outcome.token_ids)
        for key in ("", *(f"{tag}={case.tags[tag]}" for tag in TAGS if tag in case.tags)):
            passed[case.suite, key].append(bool(outcome.passed()))
    lines = [f"{record.header.model.name}, {record.header.variant}: {duration(record.header.measurements.run_s)}"]
    for suite in sorted(clusters):
        whole = passed[suite, ""]
        independent = effective_n(clusters[suite].values())
        lines.append(
            f"\n{suite}: {sum(whole)} of {len(whole)} pass ({percent(sum(whole) / len(whole), 0)}), "
            f"{len(clusters[suite])} clusters, effective n {independent:.0f}, "
            f"{prompt_tokens[suite]} prompt and {answer_tokens[suite]} answer tokens"
        )
        parts = sorted((key, found) for (name, key), found in passed.items() if name == suite and key)
        lines += [f"  {key}: {sum(found)} of {len(found)}" for key, found in parts]
    return "\n".join(lines)


def effective_n(clusters: Collection[Sequence[bool]]) -> float:
    """Return how many independent cases would give a pass rate as sure as these clustered ones, at most all."""
    sizes, sums = [len(found) for found in clusters], [float(sum(found)) for found in clusters]
    return sum(sizes) / max(1.0, design_effect(sizes, sums, sum(sums), sum(sums)))


if __name__ == "__main__":
    main()
