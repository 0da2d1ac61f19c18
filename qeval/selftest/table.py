"""The table of the self-test, for a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from qeval.reporting.view import DECISION_WORDS
from qeval.reporting.visible import one_line
from qeval.selftest.rows import Row, expected_text
from qeval.units import points

_WHY_LIMIT = 240


def render_table(rows: Sequence[Row]) -> RenderableType:
    """Return the rows as a table, with a line that sums them up."""
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0), show_lines=True)
    table.add_column("planted", overflow="fold", ratio=4)
    table.add_column("measured\n(cases)", justify="right", no_wrap=True)
    table.add_column("the gate said, and why", overflow="fold", ratio=7)
    table.add_column("stopped\nat case", justify="right", no_wrap=True)
    table.add_column("as it\nshould be", no_wrap=True)
    for row in rows:
        table.add_row(row.planted, _measured(row), _said(row), stopped_text(row), _right(row))
    return Group(table, Text(""), summary(rows))


def stopped_text(row: Row) -> str:
    """Say after how many cases a run could have ended."""
    if row.decision == "accepted":
        return "-"
    if row.stopped_at is None:
        return "not early"
    return "before\nthe first" if row.stopped_at == 0 else str(row.stopped_at)


def summary(rows: Sequence[Row]) -> Text:
    """Say how many rows are as they should be."""
    right = sum(row.as_it_should_be for row in rows)
    style = "bold green" if right == len(rows) else "bold red"
    return Text(f"{right} of {len(rows)} are as they should be", style=style)


def _measured(row: Row) -> str:
    return f"{points(row.difference)}\n({row.n})" if row.n else "nothing\ncompared"


def _said(row: Row) -> Text:
    text = Text(DECISION_WORDS[row.decision].upper(), style="bold", overflow="fold")
    return text.append(f": {one_line(row.why, _WHY_LIMIT)}", style="not bold")


def _right(row: Row) -> Text:
    if row.as_it_should_be:
        return Text("yes", style="green")
    return Text(f"NO: {expected_text(row)}", style="bold red", overflow="fold")
