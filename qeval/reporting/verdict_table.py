"""Verdicts as tables in a terminal: columns that have no room are left out, so that no figure is broken over lines."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from rich import box
from rich.table import Table
from rich.text import Text

from qeval.compare.report import Verdict
from qeval.reporting import figures, view
from qeval.reporting.visible import visible
from qeval.units import UNKNOWN, p_value

STYLES = {
    "accepted": "bold green",
    "regressed": "bold red",
    "inconclusive": "bold yellow",
    "not_comparable": "bold magenta",
    "incomplete": "bold magenta",
    "equivalent": "green",
    "improved": "green",
}
_LABEL_LEAST, _LABEL_MOST = 6, 44
"""Columns that a slice's name gets, however narrow the terminal, and at most, however wide it is."""
_GOES_FIRST = ("itself", "role", "p", "excess", "more", "margin")
"""Columns in the order in which they give way; the ruling then says below itself how many cases it needs."""
_GOES_LAST = ("rates", "flips", "could")
"""Those that give way only where the gaps between columns are narrow already."""


class Column(NamedTuple):
    """One figure of a verdict."""

    name: str
    head: str
    write: Callable[[Verdict], str]


class Layout(NamedTuple):
    """What fits into a width."""

    label: int
    """Columns for the slice's name."""
    gap: int
    columns: list[tuple[Column, int]]
    """Each with its width."""


class _Choice(NamedTuple):
    gone: set[str]
    """Names of the columns to do without."""
    gap: int
    """Blanks between the others."""


def columns(interval: str, verdicts: Sequence[Verdict], leave_out: Iterable[str] = ()) -> list[Column]:
    """Return the columns that these verdicts have figures for.

    Args:
        interval: what to call the interval, such as `90 % interval`.
        verdicts: all that the table will show.
        leave_out: names of columns not wanted.
    """
    found = [
        Column("n", "n", lambda v: f"{v.n:,}"),
        Column("rates", "pass rate\n%", lambda v: figures.rates_text(v).removesuffix(" %")),
        Column("flips", "lost\nwon", figures.flips_text),
        Column("difference", f"difference, pp\n[{interval}]", lambda v: _bare(figures.difference_text(v))),
        Column("could", "could\nshow", lambda v: _bare(figures.detectable_text(v))),
        Column("margin", "margin\npp", lambda v: f"{100 * v.margin:.3g}"),
        Column("p", "p harm\nadjusted", lambda v: p_value(v.p_harm_adjusted)),
        Column("itself", "flips against itself\nbaseline | candidate", _self_flips),
        Column("excess", f"excess churn, pp\n[{interval}]", lambda v: _bare(figures.excess_text(v))),
        Column("role", "role", lambda v: v.role),
        Column("ruling", "ruling", lambda v: v.ruling),
        Column("more", "needs\ncases", figures.more_text),
    ]
    unwanted = {*leave_out}
    if all(v.excess_churn is None for v in verdicts):
        unwanted.add("excess")
    if all(v.cases_more is None for v in verdicts):
        unwanted.add("more")
    return [column for column in found if column.name not in unwanted]


def fit(wanted: Sequence[Column], verdicts: Sequence[Verdict], *, before: int, least: int, room: int) -> Layout:
    """Choose columns, widths and gaps; a terminal too narrow even for the last choice still gets that one.

    Args:
        wanted: columns to choose from.
        verdicts: all that the table will show.
        before: characters that stand before a slice's name.
        least: characters that a name and what stands before it get, if they need them, before a figure does.
        room: columns of the terminal.
    """
    longest = max((len(_label(v).plain) + before for v in verdicts), default=0)
    made = [_layout(wanted, verdicts, longest, room, choice) for choice in _choices(wanted)]
    last = made[-1]._replace(label=max(made[-1].label, _LABEL_LEAST))
    return next((layout for layout in made if layout.label >= min(longest, least)), last)


def _layout(wanted: Sequence[Column], verdicts: Sequence[Verdict], longest: int, room: int, choice: _Choice) -> Layout:
    kept = [column for column in wanted if column.name not in choice.gone]
    widths = [_width(column, verdicts, choice) for column in kept]
    left = room - sum(widths) - choice.gap * len(widths)
    return Layout(min(longest, left, _LABEL_MOST), choice.gap, list(zip(kept, widths, strict=True)))


def _choices(wanted: Sequence[Column]) -> list[_Choice]:
    """Return the choices, from the widest table to the narrowest."""
    names = {column.name for column in wanted}
    first = [name for name in _GOES_FIRST if name in names]
    roomy = [_Choice({*first[:n]}, 2) for n in range(len(first) + 1)]
    dense = [_Choice({*first, *_GOES_LAST[:n]}, 1) for n in range(len(_GOES_LAST) + 1)]
    return [*roomy, *dense]


def _width(column: Column, verdicts: Sequence[Verdict], choice: _Choice) -> int:
    texts = [column.head, *(_figure(column, v, choice.gap) for v in verdicts)]
    if column.name == "ruling" and "more" in choice.gone:
        texts += [_needs(v) for v in verdicts]
    return max(len(line) for text in texts for line in text.split("\n"))


def _figure(column: Column, verdict: Verdict, gap: int) -> str:
    text = column.write(verdict)
    return text.replace(" → ", "→") if gap == 1 else text


def table(layout: Layout, title: str, *, header: bool) -> Table:
    """Return an empty table of this layout; `row` makes its rows."""
    made = Table(
        box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, layout.gap - 1, 0, 0), show_header=header
    )
    made.add_column(title, width=layout.label, overflow="fold")
    for column, width in layout.columns:
        words = column.name in {"role", "ruling"}
        made.add_column(Text(column.head), justify="left" if words else "right", width=width, no_wrap=True)
    return made


def row(layout: Layout, verdict: Verdict, before: str = "") -> list[Text]:
    """Return a verdict's cells.

    Args:
        layout: the table's.
        verdict: what to show.
        before: text before the slice's name.
    """
    needs_apart = any(column.name == "more" for column, _ in layout.columns)
    cells = [Text(visible(before), overflow="fold").append(_label(verdict))]
    for column, _ in layout.columns:
        if column.name == "ruling":
            cells.append(_ruling(verdict, "" if needs_apart else _needs(verdict)))
        else:
            cells.append(Text(_figure(column, verdict, layout.gap)))
    return cells


def _ruling(verdict: Verdict, needs: str) -> Text:
    ruling = Text(verdict.ruling, style=STYLES[verdict.ruling])
    return Text("\n").join([ruling, Text(needs, "dim")]) if needs else ruling


def _needs(verdict: Verdict) -> str:
    more = figures.more_text(verdict)
    return f"needs {more}" if more else ""


def _label(verdict: Verdict) -> Text:
    return Text(visible(view.verdict_label(verdict)) + ("" if verdict.gates else "*"), overflow="fold")


def _bare(text: str) -> str:
    return text.replace(" pp", "")


def _self_flips(verdict: Verdict) -> str:
    if verdict.baseline_self is None and verdict.candidate_self is None:
        return UNKNOWN
    return f"{figures.self_text(verdict.baseline_self)} | {figures.self_text(verdict.candidate_self)}"
