"""How long grading takes: `python scripts/bench_grading.py`.

Prints two Markdown tables. First 10,000 typical outcomes, as many for each grader, in seconds of one core's own time:
right and wrong answers to the cases of the built-in suites, and the answers of the graders' own tables of cases. Then
hostile answers, in seconds on the clock since a worker grades the long ones: each is read by every grader and by
patterns that backtrack without end; named is the slowest grader that came to an end, and how many were ended at their
limit. Ends with 1 where the typical ones take 10 s or more, or a hostile one that comes to an end 2 s or more.
"""

from __future__ import annotations

import argparse
import cProfile
import os
import pstats
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1]))

from qeval.chat import Tool
from qeval.grading import Question, grade_outcome, grader_kinds
from qeval.grading._worker import WORKER
from qeval.outcome import Outcome
from qeval.suites import load_suites
from qeval.suites.question import question_of
from tests.grading.case_files import example_graders, plain_graders, question_of_row, rows
from tests.grading.hostile import LARGE, TEXTS
from tests.suites.answers import right_answer, wrong_answer

TYPICAL = 10_000
LONGEST_TYPICAL = 4_000
"""Characters; the tables of cases hold hostile answers too."""
TYPICAL_LIMIT_S = 10.0
HOSTILE_LIMIT_S = 2.0
ENDED_S = 2.0
"""Processor time after which a grade is ended here; a run waits longer."""
BACKTRACKING: list[dict[str, Any]] = [
    {"kind": "regex", "pattern": "(a+)+$"},
    {"kind": "regex", "pattern": "(.*a){25}b"},
    {"kind": "json_schema", "schema": {"pattern": "^(a+)+$"}},
]
TOOLS = (Tool(name="f", parameters={"type": "object", "properties": {"a": {"type": "integer"}}}),)


class Work(NamedTuple):
    """An outcome and what grades it."""

    outcome: Outcome
    graders: Sequence[dict[str, Any]]
    question: Question

    def seconds(self) -> float:
        """Grade once and return the processor time it took."""
        start = time.process_time()
        grade_outcome(self.outcome, self.graders, self.question)
        return time.process_time() - start

    def ended_after(self) -> tuple[bool, float]:
        """Grade once and return whether it was ended at its limit, and the time on the clock that it took."""
        start = time.perf_counter()
        graded = grade_outcome(self.outcome, self.graders, self.question)
        return any(grade.fault == "grading_timeout" for grade in graded.grades), time.perf_counter() - start


def work_of(text: str, grader: dict[str, Any], question: Question) -> Work:
    """Return the work of one text and one grader."""
    outcome = Outcome(suite="bench", case="c", batch=0, status="answered", text=text, finish="stop")
    return Work(outcome, [grader], question)


def of_suites() -> dict[str, list[Work]]:
    """Return right and wrong answers to the built-in suites by grader."""
    found: dict[str, list[Work]] = {}
    for suite in load_suites("all", "standard"):
        for case in suite.cases:
            for grader in case.graders:
                for text in (right_answer(case), wrong_answer(case)):
                    work = work_of(text, grader, question_of(case))
                    found.setdefault(grader["kind"], []).append(work)
    return found


def of_tables(kind: str) -> list[Work]:
    """Return the answers of a grader's own table of cases."""
    found = []
    for row in rows(kind):
        if "expect" in row and "tool_calls" not in row and len(row["text"]) <= LONGEST_TYPICAL:
            question = question_of_row(row)
            found.append(work_of(row["text"], row["grader"], question))
    return found


def typical() -> dict[str, list[Work]]:
    """Return 10,000 outcomes, as many a grader, its answers to suites and tables in turn."""
    suites = of_suites()
    kinds = [kind for kind in grader_kinds() if rows(kind)]
    share = -(-TYPICAL // len(kinds))
    by_kind = {kind: [*of_tables(kind), *suites.get(kind, [])] for kind in kinds}
    return {kind: [works[i % len(works)] for i in range(share)] for kind, works in by_kind.items()}


def bench_typical() -> float:
    """Print what typical outcomes take and return the sum."""
    print("| grader | outcomes | different | seconds | ms each |\n|---|---|---|---|---|")
    total, n_all = 0.0, 0
    for kind, works in typical().items():
        seconds = sum(work.seconds() for work in works)
        different = len({id(work) for work in works})
        print(f"| {kind} | {len(works):,} | {different:,} | {seconds:.2f} | {1000 * seconds / len(works):.2f} |")
        total, n_all = total + seconds, n_all + len(works)
    print(f"| all | {n_all:,} | | {total:.2f} | {1000 * total / n_all:.2f} |\n")
    return total


def bench_hostile() -> float:
    """Print what each hostile answer takes in its slowest grader and return the longest time of one that ended."""
    print("| answer | characters | slowest grader | seconds | ended at the limit |\n|---|---|---|---|---|")
    WORKER.limit_s = ENDED_S
    graders = [*plain_graders(), *example_graders(), *BACKTRACKING]
    longest = 0.0
    for name, text in {**TEXTS, **LARGE}.items():
        works = [work_of(text, grader, Question("en", TOOLS)) for grader in graders]
        done = [(*work.ended_after(), str(work.graders[0]["kind"])) for work in works]
        seconds, kind = max((seconds, kind) for ended, seconds, kind in done if not ended)
        print(f"| {name} | {len(text):,} | {kind} | {seconds:.2f} | {sum(ended for ended, *_ in done)} |")
        longest = max(longest, seconds)
    return longest


def profiled(function: Callable[[], float]) -> float:
    """Run a function under the profiler and print what took longest."""
    with cProfile.Profile() as profile:
        result = function()
    pstats.Stats(profile).sort_stats("tottime").print_stats(25)
    return result


def main() -> int:
    """Run on one core and return 1 where a limit is broken."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--profile", action="store_true", help="profile the typical outcomes instead")
    given = parser.parse_args()
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    if given.profile:
        profiled(bench_typical)
        return 0
    slow, worst = bench_typical(), bench_hostile()
    return int(slow >= TYPICAL_LIMIT_S or worst >= HOSTILE_LIMIT_S)


if __name__ == "__main__":
    sys.exit(main())
