"""The report in a terminal: verdicts by suite, slices that regressed, the worst changed cases, costs, the decision.

Plain text where the output is no terminal. Nothing a model printed reaches the terminal as a control sequence.
"""

from __future__ import annotations

import io

from rich import box
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from qeval.compare.report import ChangedCase, Report, VariantSummary, Verdict
from qeval.reporting import view
from qeval.reporting.visible import cut, one_line, visible
from qeval.units import UNKNOWN, p_value, rate, size

_STYLES = {
    "accepted": "bold green",
    "regressed": "bold red",
    "inconclusive": "bold yellow",
    "not_comparable": "bold magenta",
    "incomplete": "bold magenta",
    "equivalent": "green",
    "improved": "green",
}
_WIDE = 110
"""Columns from which secondary numbers have room."""
_LABEL_NARROW, _LABEL_WIDE = 13, 34
"""Columns that a suite's name may take before it folds."""
_NO_GATE = "* advisory or exploratory: reported, does not gate"
_CASES_SHOWN = 5
_NOTES_SHOWN = 3
_SLICES_SHOWN = 15
_TEXT_LIMIT = 320
_TEXT_LINES = 8


def print_report(report: Report, console: Console | None = None) -> None:
    """Print a report, the run's decision last.

    Args:
        report: what to show.
        console: where to; standard output by default, without colour where that is no terminal.
    """
    console = console or Console(highlight=False)
    wide = console.width >= _WIDE
    console.print(_title(report))
    console.print(_suites(report, wide))
    for part in (_slices(report, wide), _worst(report), _variants(report, wide), _remarks(report)):
        if part is not None:
            console.print(part)
    console.print(_decisions(report))


def to_text(report: Report, width: int) -> str:
    """Return what `print_report` prints into a file of the given width in columns."""
    stream = io.StringIO()
    print_report(report, Console(file=stream, width=width, highlight=False, color_system=None, force_terminal=False))
    # Rich pads cells with blanks; no reader needs them at the end of a line.
    return "\n".join(line.rstrip() for line in stream.getvalue().split("\n"))


def _text(content: str, style: str = "") -> Text:
    return Text(content, style=style, overflow="fold")


def _table(*, header: bool = True) -> Table:
    return Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0), show_header=header)


def _title(report: Report) -> RenderableType:
    cases = sum(info.n_cases for info in report.suites.values())
    n = len(report.candidates)
    line = f"{report.model}: {n} candidate{'s' if n > 1 else ''} against {report.baseline}, {cases} cases\n"
    return _text(visible(line), "bold")


def _suites(report: Report, wide: bool) -> RenderableType:
    """Build one table whose groups are candidates: equal fixed widths, so that the columns stand in line."""
    labels = [view.verdict_label(v) for c in report.candidates for v in view.headline(c)]
    width = min(max(map(len, labels), default=0), _LABEL_WIDE if wide else _LABEL_NARROW)
    heads = _suites_table(report, width, wide, header=True)
    parts: list[RenderableType] = [heads]
    for candidate in report.candidates:
        line = _text(visible(candidate.candidate) + "  ", "bold")
        line.append(view.DECISION_WORDS[candidate.decision].upper(), _STYLES[candidate.decision])
        parts.append(line)
        table = _suites_table(report, width, wide, header=False)
        for verdict in view.headline(candidate):
            table.add_row(*_verdict_cells(verdict, wide))
        gap = [""] if candidate is not report.candidates[-1] else []
        parts += [table if table.row_count else _text("  nothing was compared", "dim"), *gap]
    if any(not v.gates for c in report.candidates for v in view.headline(c)):
        parts.append(_text(_NO_GATE, "dim"))
    return Group(*parts)


def _suites_table(report: Report, label_width: int, wide: bool, *, header: bool) -> Table:
    table = _table(header=header)
    table.add_column("suite", width=label_width + 2, overflow="fold")
    table.add_column("n", justify="right", width=5 if wide else 4)
    table.add_column("pass rate\n%", justify="right", width=11)
    table.add_column("lost\nwon", justify="right", width=9 if wide else 7)
    table.add_column(Text(f"difference, pp\n[{view.interval_name(report)}]"), justify="right", width=20)
    if wide:
        table.add_column("margin\npp", justify="right", width=6)
        table.add_column("p harm\nadjusted", justify="right", width=8)
        table.add_column("flips against itself\nbaseline | candidate", justify="right", width=21)
    table.add_column("ruling", width=12)
    return table


def _verdict_cells(verdict: Verdict, wide: bool) -> list[RenderableType]:
    cells: list[RenderableType] = [
        Padding(_label(verdict), (0, 0, 0, 2)),
        str(verdict.n),
        view.rates_text(verdict).removesuffix(" %"),
        view.flips_text(verdict),
        _difference(verdict),
    ]
    if wide:
        cells += [_margin(verdict), p_value(verdict.p_harm_adjusted), _self_flips(verdict)]
    return [*cells, _ruling(verdict)]


def _margin(verdict: Verdict) -> str:
    return f"{100 * verdict.margin:.3g}"


def _self_flips(verdict: Verdict) -> str:
    if verdict.baseline_self is None and verdict.candidate_self is None:
        return UNKNOWN
    return f"{view.self_text(verdict.baseline_self)} | {view.self_text(verdict.candidate_self)}"


def _label(verdict: Verdict) -> Text:
    return _text(visible(view.verdict_label(verdict)) + ("" if verdict.gates else "*"))


def _difference(verdict: Verdict) -> Text:
    return Text(view.difference_text(verdict).replace(" pp", ""))


def _ruling(verdict: Verdict) -> Text:
    return Text(verdict.ruling, style=_STYLES[verdict.ruling])


def _slices(report: Report, wide: bool) -> RenderableType | None:
    rows = [(c.candidate, v) for c in report.candidates for v in view.notable_slices(c)]
    if not rows:
        return None
    table = _table()
    table.add_column("candidate: slice", overflow="fold")
    table.add_column("n", justify="right", no_wrap=True)
    table.add_column("lost\nwon", justify="right", no_wrap=True)
    table.add_column(Text("difference, pp\n[interval]"), justify="right", no_wrap=True)
    if wide:
        table.add_column("margin\npp", justify="right", no_wrap=True)
        table.add_column("p harm\nadjusted", justify="right", no_wrap=True)
        table.add_column("role", no_wrap=True)
    table.add_column("ruling", no_wrap=True)
    for name, verdict in rows[:_SLICES_SHOWN]:
        table.add_row(
            _text(visible(f"{name}: ")).append(_label(verdict)),
            str(verdict.n),
            view.flips_text(verdict),
            _difference(verdict),
            *([_margin(verdict), p_value(verdict.p_harm_adjusted), verdict.role] if wide else []),
            _ruling(verdict),
        )
    note = [_text(_NO_GATE, "dim")] if any(not v.gates for _, v in rows[:_SLICES_SHOWN]) else []
    return _section(
        "Slices that regressed, and required ones that are open",
        table,
        *_more(len(rows) - _SLICES_SHOWN, "slices are in the report"),
        *note,
    )


def _section(title: str, *parts: RenderableType) -> RenderableType:
    return Group("", _text(title, "bold"), *parts)


def _more(left_out: int, what: str) -> list[Text]:
    return [_text(f"{left_out} more {what}", "dim")] if left_out > 0 else []


def _worst(report: Report) -> RenderableType | None:
    cases = view.worst_first(report)
    if not cases:
        return None
    parts: list[RenderableType] = []
    for case in cases[:_CASES_SHOWN]:
        parts += [_case_head(case), _side_by_side(case, report.baseline)]
    more = _more(len(cases) - _CASES_SHOWN, "changed cases are in the report")
    return _section("Worst changed cases", *parts, *more)


def _case_head(case: ChangedCase) -> Text:
    tags = " ".join(f"{key}={value}" for key, value in sorted(case.tags.items()))
    head = Text(overflow="fold")
    head.append(f"{one_line(case.candidate, 80)}  {one_line(case.suite, 40)}/{one_line(case.case, 80)}  ")
    head.append(view.KIND_WORDS[case.kind], "bold")
    head.append(f"  {one_line(tags, 120)}" if tags else "", "dim")
    head.append("  unstable: also flips against itself" if case.unstable else "", "yellow")
    return head


def _side_by_side(case: ChangedCase, baseline: str) -> Table:
    table = Table(box=box.SQUARE, expand=True, show_header=True, title=_text(one_line(case.question, 200), "italic"))
    table.title_justify = "left"
    table.add_column(Text(one_line(baseline, 60)), ratio=1, overflow="fold")
    table.add_column(Text(one_line(case.candidate, 60)), ratio=1, overflow="fold")
    table.add_row(_answer(case.baseline_text), _answer(case.candidate_text))
    if case.baseline_fault or case.candidate_fault:
        table.add_row(_fault(case.baseline_fault), _fault(case.candidate_fault))
    return table


def _answer(text: str) -> Text:
    short = cut(visible(text), _TEXT_LIMIT)
    lines = short.text.split("\n")
    lines = [*lines[:_TEXT_LINES], "…"] if len(lines) > _TEXT_LINES else lines
    shown = _text("\n".join(lines) or "(empty)", "" if text else "dim")
    shown.append(f" … {short.left_out} more characters" if short.left_out else "", "dim")
    return shown


def _fault(fault: str) -> Text:
    return _text(one_line(fault, 160) or "passed", "dim")


def _variants(report: Report, wide: bool) -> RenderableType:
    table = _table()
    table.add_column("variant", overflow="fold")
    if wide:
        table.add_column("engine", overflow="fold")
    for column in ("bits a\nweight", "storage", "peak\nmemory", "tok/s", "cases\nanswered"):
        table.add_column(column, justify="right", no_wrap=True)
    table.add_column("state", no_wrap=True)
    for variant in report.variants:
        table.add_row(*_variant_cells(variant, wide))
    details = [
        _text(f"{one_line(v.variant, 80)}: {one_line(v.state_detail, 200)}", "red")
        for v in report.variants
        if v.state_detail
    ]
    return _section("What each variant costs", table, *details)


def _variant_cells(variant: VariantSummary, wide: bool) -> list[RenderableType]:
    proof = variant.proof
    return [
        _text(visible(variant.variant)),
        *([_text(visible(variant.engine))] if wide else []),
        UNKNOWN if proof is None else f"{proof.effective_bits:.2f}",
        size(None if proof is None else proof.storage_bytes),
        size(variant.peak_memory_bytes),
        rate(variant.tokens_per_s).removesuffix(" tok/s"),
        f"{variant.n_answered}/{variant.n_cases}",
        _text(view.STATE_WORDS[variant.state], "" if variant.state == "complete" else "red"),
    ]


def _remarks(report: Report) -> RenderableType | None:
    remarks: list[RenderableType] = [_text(one_line(warning, 400), "yellow") for warning in report.warnings]
    for candidate in report.candidates:
        for note in view.remarks(candidate, _NOTES_SHOWN):
            remarks.append(_text(f"{one_line(candidate.candidate, 80)}: {one_line(note, 400)}", "yellow"))
    return _section("Warnings", *remarks) if remarks else None


def _decisions(report: Report) -> RenderableType:
    lines: list[Text] = []
    for candidate in report.candidates:
        line = _text(f"{one_line(candidate.candidate, 80)}: ", "bold")
        line.append(view.DECISION_WORDS[candidate.decision].upper(), _STYLES[candidate.decision])
        line.append("" if candidate.required else " (not required)", "dim")
        line.append(f". {one_line(view.reason_text(candidate), 600)}", "default")
        lines.append(line)
    final = _text("Decision: ", "bold")
    final.append(one_line(view.run_line(report), 600), _STYLES[report.decision])
    final.append(f", exit code {report.exit_code}", "default")
    return _section("Decisions", *lines, final)
