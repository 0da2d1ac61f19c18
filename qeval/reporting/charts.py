"""Geometry of the charts in the HTML report: every length is a share of the plot's width, in percent.

The template draws them as inline SVG with percentages, so they fit any screen without scaling the text.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from qeval.compare.report import CandidateResult, Report, Ruling, SelfFlips, VariantSummary, Verdict
from qeval.reporting import figures, view
from qeval.units import UNKNOWN, percent, rate, size


class Tick(NamedTuple):
    """A mark on the axis."""

    x: float
    label: str


class ForestRow(NamedTuple):
    """One candidate in one suite: difference and interval."""

    candidate: str
    ruling: Ruling
    x: float
    low: float
    high: float
    margin: float
    """Where the loss equals the margin; left of it a loss is too large."""
    text: str
    n: int


class ForestGroup(NamedTuple):
    """The candidates in one suite."""

    label: str
    rows: list[ForestRow]


class Forest(NamedTuple):
    """Differences with intervals against the margin, by suite."""

    ticks: list[Tick]
    zero: float
    groups: list[ForestGroup]


class Bar(NamedTuple):
    """One bar; width None: unknown, so nothing is drawn."""

    label: str
    width: float | None
    text: str
    kind: str = ""


class Bars(NamedTuple):
    """Bars on one scale, with what they mean."""

    title: str
    note: str
    bars: list[Bar]


def forest(report: Report) -> Forest | None:
    """Lay out the pass-rate differences of all candidates; None where nothing was compared."""
    shown = [
        (c, v) for c in report.candidates for v in view.headline(c) if v.metric == "pass" and v.difference is not None
    ]
    if not shown:
        return None
    step, first, last = _axis([v for _, v in shown])
    span = last - first

    def place(value: float) -> float:
        return round(100 * (min(max(value, first), last) - first) / span, 3)

    ticks = [
        Tick(place(first + i * step), f"{100 * (first + i * step):+.0f}".replace("+0", "0"))
        for i in range(round(span / step) + 1)
    ]
    groups: dict[str, list[ForestRow]] = {}
    for candidate, verdict in shown:
        groups.setdefault(verdict.slice.label, []).append(_forest_row(candidate, verdict, place))
    return Forest(ticks, place(0.0), [ForestGroup(label, rows) for label, rows in groups.items()])


def _forest_row(candidate: CandidateResult, verdict: Verdict, place: Callable[[float], float]) -> ForestRow:
    middle = verdict.difference or 0.0
    low, high = (end if end is not None else middle for end in (verdict.low, verdict.high))
    text = figures.difference_text(verdict)
    return ForestRow(
        candidate.candidate,
        verdict.ruling,
        place(middle),
        place(low),
        place(high),
        place(-verdict.margin),
        text,
        verdict.n,
    )


def _axis(verdicts: list[Verdict]) -> tuple[float, float, float]:
    """Choose a step and ends so that every interval fits on at most about eight ticks."""
    ends = [end for v in verdicts for end in (v.low, v.high, -v.margin, v.margin) if end is not None]
    low, high = min(*ends, -0.01), max(*ends, 0.01)
    step = next(s for s in (0.01, 0.02, 0.05, 0.1, 0.2, 0.25) if (high - low) / s <= 8 or s == 0.25)
    return step, step * math.floor(low / step), step * math.ceil(high / step)


def costs(report: Report) -> list[Bars]:
    """Lay out storage, peak memory and speed of every variant, each with its ratio to the baseline."""
    return [
        _cost(report, "Weights in storage", "less is better", _storage, size),
        _cost(report, "Peak memory of the process", "less is better", lambda v: v.peak_memory_bytes, size),
        _cost(report, "Speed in this run", "more is better", lambda v: v.tokens_per_s, rate),
    ]


def _storage(variant: VariantSummary) -> int | None:
    return None if variant.proof is None else variant.proof.storage_bytes


def _cost(
    report: Report,
    title: str,
    note: str,
    measure: Callable[[VariantSummary], float | None],
    write: Callable[..., str],
) -> Bars:
    values = [measure(variant) for variant in report.variants]
    most = max((value for value in values if value is not None), default=0.0)
    base = values[0] if values else None
    bars = []
    for variant, value in zip(report.variants, values, strict=True):
        text = write(value)
        if value is not None and base and variant.variant != report.baseline:
            text += f" ({value / base:.2f}×)"
        kind = "baseline" if variant.variant == report.baseline else ""
        bars.append(Bar(variant.variant, _width(value, most), text, kind))
    return Bars(title, note, bars)


def _width(value: float | None, most: float) -> float | None:
    return None if value is None or not most else round(100 * value / most, 3)


def noise(report: Report) -> list[Bars]:
    """Lay out, per candidate, changes against the baseline beside changes of each variant against itself."""
    pools = [(c.candidate, v) for c in report.candidates if (v := view.pool(c)) is not None and v.n]
    flips = [bar for name, verdict in pools for bar in _flip_bars(name, verdict)]
    texts = [bar for name, verdict in pools for bar in _text_bars(name, verdict)]
    return [
        Bars("Pass or fail differs", "chance that two runs of a case differ", flips),
        Bars("Text changed", "share of cases", texts),
    ]


def _flip_bars(name: str, verdict: Verdict) -> list[Bar]:
    return [
        _chance(f"{name}: against the baseline", figures.flip_rate(verdict), verdict.n, "between"),
        *(
            _chance(label, None if own is None else own.rate, own.n if own else 0, "itself")
            for label, own in _own(verdict)
        ),
    ]


def _text_bars(name: str, verdict: Verdict) -> list[Bar]:
    return [
        _count(f"{name}: against the baseline", verdict.changed_text, verdict.n, "between"),
        *(
            _count(f"{label}{_runs(own)}", own.changed_texts, own.n, "itself")
            if own
            else Bar(label, None, UNKNOWN, "itself")
            for label, own in _own(verdict)
        ),
    ]


def _own(verdict: Verdict) -> list[tuple[str, SelfFlips | None]]:
    return [("against itself", verdict.candidate_self), ("baseline against itself", verdict.baseline_self)]


def _runs(own: SelfFlips) -> str:
    # A text that changed in any of many runs is no rate of two; the label says so.
    return f", any of {own.runs} runs" if own.runs > 2 else ""


def _chance(label: str, value: float | None, n: int, kind: str) -> Bar:
    return Bar(label, _width(value, 1.0), UNKNOWN if value is None else f"{percent(value)} (n {n:,})", kind)


def _count(label: str, count: int, n: int, kind: str) -> Bar:
    value = figures.share(count, n)
    return Bar(label, _width(value, 1.0), UNKNOWN if value is None else f"{percent(value)} ({count} of {n})", kind)
