"""Grades in a terminal: each of one answer, or counts and the first failures of many."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from qeval.outcome import Outcome
from qeval.reporting.visible import one_line, visible
from qeval.units import UNKNOWN

_FAILURES_SHOWN = 10
_REASON_CHARACTERS = 160
_STYLES = {"pass": "green", "fail": "red", "ungraded": "yellow"}


def print_grades(outcome: Outcome, console: Console) -> None:
    """Print every grade of one answer with class and reason."""
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    for title in ("metric", "status", "class", "score"):
        table.add_column(title)
    table.add_column("reason", overflow="fold")
    for grade in outcome.grades:
        table.add_row(
            grade.metric + ("" if grade.required else " *"),
            Text(grade.status, style=_STYLES[grade.status]),
            grade.fault or "",
            "" if grade.score is None else f"{grade.score:.2f}",
            Text(visible(grade.reason), overflow="fold"),
        )
    console.print(table)
    _say(console, f"{outcome.suite}/{outcome.case}: {said(outcome)}")
    if any(not grade.required for grade in outcome.grades):
        _say(console, "* reported beside, the case's pass does not depend on it.")


def print_many(outcomes: Sequence[Outcome], console: Console) -> None:
    """Print how often each grade was given, and the first answers that did not pass."""
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    for title in ("metric", "status", "class"):
        table.add_column(title)
    table.add_column("answers", justify="right")
    for (metric, status, fault), n in sorted(class_counts(outcomes).items()):
        table.add_row(metric, Text(status, style=_STYLES[status]), fault, f"{n:,}")
    console.print(table)
    not_passed = [outcome for outcome in outcomes if outcome.passed() is not True]
    for outcome in not_passed[:_FAILURES_SHOWN]:
        reasons = "; ".join(
            f"{grade.metric} {grade.fault}: {grade.reason}"
            for grade in outcome.grades
            if grade.required and grade.status != "pass"
        )
        name = f"{outcome.suite}/{outcome.case}" + (f" repeat {outcome.repeat}" if outcome.repeat else "")
        _say(console, f"{visible(name)}: {one_line(reasons, _REASON_CHARACTERS)}")
    if len(not_passed) > _FAILURES_SHOWN:
        _say(console, f"... and {len(not_passed) - _FAILURES_SHOWN:,} more that did not pass; --json has all.")
    passes = Counter(said(outcome) for outcome in outcomes)
    _say(console, f"{len(outcomes):,} answers: " + ", ".join(f"{passes[word]:,} {word}" for word in sorted(passes)))


def class_counts(outcomes: Sequence[Outcome]) -> Counter[tuple[str, str, str]]:
    """Return how often each (metric, status, class) was given; the class of a pass is empty."""
    return Counter((grade.metric, grade.status, grade.fault or "") for o in outcomes for grade in o.grades)


def said(outcome: Outcome) -> str:
    """Return pass, fail or ungraded of a case, or that no grade is required."""
    passed = outcome.passed()
    if passed is None:
        return "ungraded" if outcome.grades else UNKNOWN
    return "pass" if passed else "fail"


def _say(console: Console, text: str) -> None:
    console.print(Text(text), highlight=False, soft_wrap=True)
