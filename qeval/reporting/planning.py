"""Plans of suites in a terminal: cases needed, what a size shows, what suites at hand show."""

from __future__ import annotations

from collections.abc import Sequence

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from qeval.compare.planning import CasesNeeded, Design, Shown
from qeval.compare.suite_plan import SlicePlan, SuitesPlan
from qeval.reporting.visible import visible
from qeval.units import UNKNOWN, percent

_WIDE = 110
"""Columns from which secondary numbers have room."""
_SHORT = 0.05
"""How far the exact chance may lie under the one asked for before a remark says so."""
_NOTHING_SHOWN = "n/a: not even losses alone would be shown, or there are under 10 clusters."


def print_plan(design: Design, needed: Sequence[CasesNeeded], shown: Sequence[Shown], console: Console) -> None:
    """Print both answers to a design: the cases it takes, and what numbers of cases show."""
    _say(console, f"Cases needed{_a_slice(design)}, margin {_points(design.margin)}", bold=True)
    console.print(_needed_table(design, needed))
    _say(console, f"\nWhat a number of cases{_a_slice(design)} can show, margin {_points(design.margin)}", bold=True)
    console.print(_shown_table(design, shown))
    _say(console, "\n" + " ".join([*_terms(design), *_remarks(design, needed, shown)]))


def print_suites_plan(plan: SuitesPlan, console: Console) -> None:
    """Print what suites at hand can show under a policy."""
    console.print(_suites_table(plan, wide=console.width >= _WIDE))
    _say(console, "\n" + _closing(plan))


def _needed_table(design: Design, needed: Sequence[CasesNeeded]) -> Table:
    table = _table()
    table.add_column("flip rate", justify="right")
    table.add_column("cases to hold the\nmargin, nothing wrong", justify="right")
    table.add_column(f"exact chance\n{_all(design)} then", justify="right")
    table.add_column("cases to see a loss\nof the margin", justify="right")
    for row in needed:
        table.add_row(percent(row.flip_rate), f"{row.to_hold:,}", percent(row.chance), f"{row.to_alarm:,}")
    return table


def _shown_table(design: Design, shown: Sequence[Shown]) -> Table:
    table = _table()
    for title in ("flip rate", "cases", "smallest drop\nseen", "smallest margin\nheld", "interval\n± points"):
        table.add_column(title, justify="right")
    table.add_column(f"chance\n{_all(design)}", justify="right")
    for row in shown:
        drop, margin = _points(row.smallest_detectable), _points(row.smallest_margin)
        width = f"{100 * row.half_width:.2f}"
        table.add_row(percent(row.flip_rate), f"{row.n:,}", drop, margin, width, percent(row.chance))
    return table


def _suites_table(plan: SuitesPlan, *, wide: bool) -> Table:
    table = _table()
    table.add_column("slice", overflow="fold", max_width=40 if wide else 20)
    for title in ("cases", "clusters", "margin\npp", "drop seen\npp", "needed\nalone", "needed\ntogether"):
        table.add_column(title, justify="right")
    if wide:
        table.add_column("exact chance\nto hold", justify="right")
    table.add_column("suffices")
    for row in plan.slices:
        table.add_row(*_suite_cells(row, wide=wide))
    return table


def _suite_cells(row: SlicePlan, *, wide: bool) -> list[str | Text]:
    drop = UNKNOWN if row.smallest_detectable is None else f"{100 * row.smallest_detectable:.1f}"
    return [
        Text(visible(row.label) + ("" if row.gates else " *"), overflow="fold"),
        f"{row.n:,}",
        f"{row.clusters:,}",
        f"{100 * row.margin:.1f}",
        drop,
        f"{row.cases_needed:,}",
        f"{row.cases_needed_together:,}",
        *([percent(row.chance)] if wide else []),
        row.suffices,
    ]


def _terms(design: Design) -> list[str]:
    said = [f"Level {design.alpha:g}, power {design.power:g}."]
    if design.slices > 1:
        said.append(
            f"All {design.slices} slices must hold; an alarm is planned at Holm's hardest step, "
            f"{design.alpha:g} / {design.slices + 1}."
        )
    if design.cluster_size > 1:
        clusters = f"Clusters of {design.cluster_size}, correlation {design.correlation:g}"
        said.append(f"{clusters}: {design.design_effect:g} cases say as much as one independent case.")
    return said


def _remarks(design: Design, needed: Sequence[CasesNeeded], shown: Sequence[Shown]) -> list[str]:
    said = []
    if any(row.chance < design.power - _SHORT for row in needed):
        said.append(
            "With few flips the planned cases fall short, as the exact chance shows: take the number of cases "
            "whose chance suffices."
        )
    if any(row.smallest_detectable is None or row.smallest_margin is None for row in shown):
        said.append(_NOTHING_SHOWN)
    return said


def _closing(plan: SuitesPlan) -> str:
    said = [
        f"Flip rate {percent(plan.flip_rate)}, level {plan.alpha:g}, power {plan.power:g}, {plan.tests} tests.",
        f"With nothing wrong, the chance that all {plan.must_hold} gating slices hold is {percent(plan.chance)}.",
    ]
    if any(row.suffices == "alone" for row in plan.slices):
        said.append("alone: enough for this slice by itself, not for all of them to hold together.")
    if any(row.smallest_detectable is None for row in plan.slices):
        said.append(_NOTHING_SHOWN)
    if any(not row.gates for row in plan.slices):
        said.append("* advisory: shown, does not gate.")
    if any(row.clusters < row.n for row in plan.slices) and not plan.correlation:
        said.append("Cases of one cluster are taken as independent; --correlation 0.2 lets them count less.")
    return " ".join(said)


def _table() -> Table:
    return Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))


def _say(console: Console, text: str, *, bold: bool = False) -> None:
    console.print(Text(text, style="bold" if bold else ""), highlight=False)


def _a_slice(design: Design) -> str:
    return "" if design.slices == 1 else " a slice"


def _all(design: Design) -> str:
    return "to hold" if design.slices == 1 else f"all {design.slices} hold"


def _points(share: float | None) -> str:
    return UNKNOWN if share is None else f"{100 * share:.2f} pp"
