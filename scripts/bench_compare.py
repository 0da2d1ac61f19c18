"""Time `qeval compare` on stored records: five variants of a thousand cases each, in a process of its own.

    python scripts/bench_compare.py [--cases 1000] [--candidates 4] [--repeats 5]

Prints a Markdown row: the median and the range of wall seconds, start of Python and reading of files included,
beside an empty `qeval --version` in the same run, since machines differ.
"""

from __future__ import annotations

import argparse
import random
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from qeval.evidence import Environment, ModelInfo
from qeval.outcome import Grade, Outcome
from qeval.record import CaseInfo, Record, RecordHeader, SuiteInfo, save_record

SUITES = ("longdoc", "multilingual", "refusal", "schema", "toolcalls")
WORDS = ("the", "answer", "is", "forty", "two", "since", "clause", "nine", "says", "so")


def write_record(folder: Path, variant: str, n_cases: int, flip_rate: float) -> None:
    """Write a record of made-up outcomes, some 40 words each, in which `flip_rate` of the cases flip."""
    folder.mkdir()
    chance = random.Random(variant)
    base = random.Random("base")
    cases, outcomes = [], []
    for index in range(n_cases):
        suite, case = SUITES[index % len(SUITES)], f"case-{index}"
        tags = {"lang": ("de", "en", "fr", "ja")[index % 4], "depth": f"0.{index % 10}", "kind": f"k{index % 6}"}
        cases.append(
            CaseInfo(suite=suite, case=case, tags=tags, cluster=f"doc-{index // 5}", question="What is it? " * 20)
        )
        right = base.random() < 0.6
        flipped = chance.random() < flip_rate
        text = " ".join((chance if flipped else base).choices(WORDS, k=40))
        status = "pass" if right != flipped else "fail"
        outcomes.append(
            Outcome(
                suite=suite,
                case=case,
                batch=index // 16,
                status="answered",
                text=text,
                token_ids=tuple(range(40)),
                finish="stop",
                prompt_tokens=300,
                prompt_hash=f"{index:064x}",
                grades=(Grade(metric="contains", status=status, reason="as made up"),),
            )
        )
    header = RecordHeader(
        variant=variant,
        engine="made up",
        format=variant,
        model=ModelInfo(name="made up", fingerprint="0" * 64),
        suites={
            suite: SuiteInfo(version=1, size="full", digest="0" * 64, n_cases=sum(c.suite == suite for c in cases))
            for suite in SUITES
        },
        decoding={"do_sample": False},
        batches="0" * 64,
        environment=Environment(python="3.11", platform="any", processor="any", device="cpu", threads=2, versions={}),
        state="complete",
    )
    save_record(folder, Record(header, tuple(cases), tuple(outcomes)))


def seconds(command: list[str]) -> float:
    """Return the wall time of a command."""
    started = time.perf_counter()
    subprocess.run(command, capture_output=True, check=False)
    return time.perf_counter() - started


def main() -> None:
    """Make the records, time the comparison, print the row."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--candidates", type=int, default=4)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folders = [Path(temporary) / f"v{index}" for index in range(options.candidates + 1)]
        for index, folder in enumerate(folders):
            write_record(folder, folder.name, options.cases, 0.0 if index == 0 else 0.05)
        qeval = [sys.executable, "-m", "qeval"]
        compare = [seconds([*qeval, "compare", *map(str, folders)]) for _ in range(options.repeats)]
        empty = [seconds([*qeval, "--version"]) for _ in range(options.repeats)]
    print("| variants | cases | `qeval compare`, s (median, range) | `qeval --version`, s |")
    print("|---|---|---|---|")
    spread = f"{statistics.median(compare):.2f} ({min(compare):.2f}-{max(compare):.2f})"
    print(f"| {len(folders)} | {options.cases} | {spread} | {statistics.median(empty):.2f} |")


if __name__ == "__main__":
    main()
