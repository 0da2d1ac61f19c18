"""Fidelity as a table in a terminal: columns that have no room are left out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from rich import box
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from qeval.reporting import fidelity
from qeval.reporting.fidelity import Panel, Row
from qeval.reporting.visible import visible
from qeval.units import percent

_INDENT = 2
_LABEL_LEAST, _LABEL_MOST = 15, 44
_GOES_FIRST = ("rms", "ratio", "acceptance", "times", "tokens", "p99", "ties")
"""Columns in the order in which they give way."""
LEGEND = (
    "KL(baseline || candidate) along the baseline's own answers, nats; noise: the larger mean KL of either variant "
    "against itself"
)


class _Column(NamedTuple):
    name: str
    head: str
    write: Callable[[Row], str]


class Layout(NamedTuple):
    """What fits into a width."""

    label: int
    columns: list[tuple[_Column, int]]
    """Each with its width."""


def fit(shown: Sequence[Panel], room: int) -> Layout:
    """Choose columns and widths, alike for all candidates."""
    rows = [row for panel in shown for row in panel.rows]
    confidence = {panel.result.confidence for panel in shown}
    columns = _columns(percent(confidence.pop(), 0) if len(confidence) == 1 else "interval")
    longest = max((len(visible(row.at.slice.label)) for row in rows), default=0) + _INDENT
    made = [_layout(columns, rows, longest, room, _GOES_FIRST[:n]) for n in range(len(_GOES_FIRST) + 1)]
    last = made[-1]._replace(label=max(made[-1].label, _INDENT + 4))
    return next((layout for layout in made if layout.label >= min(longest, _LABEL_LEAST)), last)


def _columns(interval: str) -> list[_Column]:
    return [
        _Column("tokens", "tokens", lambda row: f"{row.at.statistics.n_tokens:,}" if row.at.statistics else "0"),
        _Column("mean", f"KL mean\n± {interval}", lambda row: fidelity.mean_text(row.at, row.kind)),
        _Column("p99", "KL\np99", lambda row: fidelity.p99_text(row.at, row.kind)),
        _Column("noise", "noise\nKL", lambda row: fidelity.kl_text(row.at.noise, row.kind)),
        _Column("times", "KL over\nnoise", lambda row: fidelity.times_text(row.at)),
        _Column("same", "same\ntop", lambda row: fidelity.same_text(row.at)),
        _Column("ties", "near-ties\nof flips", lambda row: fidelity.near_ties_text(row.at)),
        _Column("acceptance", "expected\nacceptance", lambda row: fidelity.acceptance_text(row.at, row.kind)),
        _Column("ratio", "ln PPL ratio\n± " + interval, lambda row: fidelity.ratio_text(row.at)),
        _Column("rms", "RMS Δp", lambda row: fidelity.rms_text(row.at)),
    ]


def _layout(columns: Sequence[_Column], rows: Sequence[Row], longest: int, room: int, gone: Sequence[str]) -> Layout:
    kept = [column for column in columns if column.name not in gone]
    widths = [
        max(len(line) for text in (column.head, *map(column.write, rows)) for line in text.split("\n"))
        for column in kept
    ]
    left = room - sum(widths) - len(widths)
    return Layout(min(longest, left, _LABEL_MOST), list(zip(kept, widths, strict=True)))


def table(layout: Layout, panel: Panel | None = None) -> Table:
    """Return one candidate's rows; without one, the head of the columns."""
    made = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 0, 0, 0), show_header=panel is None)
    made.add_column("suite", width=layout.label, overflow="fold")
    for column, width in layout.columns:
        made.add_column(Text(column.head), justify="right", width=width, no_wrap=True)
    for row in panel.rows if panel else ():
        label = Text(visible(row.at.slice.label), overflow="fold")
        made.add_row(Padding(label, (0, 0, 0, _INDENT)), *(Text(column.write(row)) for column, _ in layout.columns))
    return made
