"""The report in a terminal: verdicts by suite, slices that regressed, the worst changed cases, costs, the decision.

Plain text where the output is no terminal. Nothing a model printed reaches the terminal as a control sequence.
"""

from __future__ import annotations

import io
from collections.abc import Collection, Sequence

from rich import box
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from qeval.compare.report import CandidateResult, ChangedCase, Report, VariantSummary, Verdict
from qeval.reporting import fidelity, fidelity_table, verdict_table, view
from qeval.reporting.decoding import decoding_lines
from qeval.reporting.verdict_table import STYLES
from qeval.reporting.visible import cut, one_line, visible
from qeval.units import bits, rate, size

_WIDE = 110
"""Columns from which secondary numbers have room."""
_INDENT = "  "
_SUITE_LEAST, _SLICE_LEAST = 15, 26
"""Columns for names before they fold."""
_NO_GATE = "* advisory or exploratory: reported, does not gate"
_COULD_SHOW = "could show: the smallest drop that this many cases would have shown, in pp"
_EXCESS = "excess churn: flip rate against the baseline, less the mean of both against themselves"
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
    console.print(_suites(report, console.width))
    parts = (
        _slices(report, console.width),
        _fidelity(report, console.width),
        _worst(report),
        _variants(report, wide),
        _remarks(report),
    )
    for part in parts:
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


def _suites(report: Report, room: int) -> RenderableType:
    """Build one table whose groups are candidates: one layout for all, so that the columns stand in line."""
    verdicts = [v for c in report.candidates for v in view.headline(c)]
    wanted = verdict_table.columns(view.interval_name(report), verdicts, leave_out=("role",))
    layout = verdict_table.fit(wanted, verdicts, before=len(_INDENT), least=_SUITE_LEAST, room=room)
    parts: list[RenderableType] = [verdict_table.table(layout, "suite", header=True)]
    for candidate in report.candidates:
        parts.append(_candidate_line(candidate))
        table = verdict_table.table(layout, "suite", header=False)
        for verdict in view.headline(candidate):
            label, *cells = verdict_table.row(layout, verdict)
            table.add_row(Padding(label, (0, 0, 0, len(_INDENT))), *cells)
        gap = [""] if candidate is not report.candidates[-1] else []
        parts += [table if table.row_count else _text(f"{_INDENT}nothing was compared", "dim"), *gap]
    shown = {column.name for column, _ in layout.columns}
    return Group(*parts, *_legend(verdicts, shown))


def _candidate_line(candidate: CandidateResult) -> Text:
    line = _text(visible(candidate.candidate) + "  ", "bold")
    line.append(view.DECISION_WORDS[candidate.decision].upper(), STYLES[candidate.decision])
    line.append("  ended early" if view.ended_early(candidate) else "", "yellow")
    return line


def _legend(verdicts: Sequence[Verdict], shown: Collection[str]) -> list[Text]:
    lines = {
        _NO_GATE: any(not v.gates for v in verdicts),
        _COULD_SHOW: bool(verdicts) and "could" in shown,
        _EXCESS: "excess" in shown,
    }
    return [_text(line, "dim") for line, said in lines.items() if said]


def _slices(report: Report, room: int) -> RenderableType | None:
    rows = [(c.candidate, v) for c in report.candidates for v in view.notable_slices(c)]
    if not rows:
        return None
    shown = rows[:_SLICES_SHOWN]
    verdicts = [v for _, v in shown]
    wanted = verdict_table.columns(view.interval_name(report), verdicts, leave_out=("rates", "itself"))
    longest = max(len(visible(name)) + 2 for name, _ in shown)
    layout = verdict_table.fit(wanted, verdicts, before=longest, least=_SLICE_LEAST, room=room)
    table = verdict_table.table(layout, "candidate: slice", header=True)
    for name, verdict in shown:
        table.add_row(*verdict_table.row(layout, verdict, before=f"{name}: "))
    note = [_text(_NO_GATE, "dim")] if any(not v.gates for v in verdicts) else []
    return _section(
        "Slices that regressed, and required ones that are open",
        table,
        *_more(len(rows) - _SLICES_SHOWN, "slices are in the report"),
        *note,
    )


def _fidelity(report: Report, room: int) -> RenderableType | None:
    shown = fidelity.panels(report)
    if not shown:
        return None
    layout = fidelity_table.fit(shown, room)
    parts: list[RenderableType] = [fidelity_table.table(layout)]
    for panel in shown:
        parts += [_text(visible(panel.candidate), "bold"), fidelity_table.table(layout, panel)]
    notes = [fidelity_table.LEGEND, *([fidelity.BOUND] if fidelity.bounds_shown(shown) else [])]
    notes += [f"{panel.candidate}: {fidelity.gap_words(panel.result)}" for panel in shown]
    return _section(
        "Fidelity: distance to the baseline, token by token", *parts, *(_text(visible(note), "dim") for note in notes)
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
    if case.divergence is not None:
        head.append(f"\nfirst differs at {fidelity.divergence_text(case.divergence)}", "dim")
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
    details += [_text(f"{one_line(name, 80)}: {line}", "dim") for name, line in decoding_lines(report)]
    return _section("What each variant costs", table, *details)


def _variant_cells(variant: VariantSummary, wide: bool) -> list[RenderableType]:
    proof = variant.proof
    return [
        _text(visible(variant.variant)),
        *([_text(visible(variant.engine))] if wide else []),
        bits(None if proof is None else proof.effective_bits),
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
        line.append(view.DECISION_WORDS[candidate.decision].upper(), STYLES[candidate.decision])
        line.append(", ended early" if view.ended_early(candidate) else "", "default")
        line.append("" if candidate.required else " (not required)", "dim")
        line.append(f". {one_line(view.reason_text(candidate), 600)}", "default")
        lines.append(line)
    final = _text("Decision: ", "bold")
    final.append(one_line(view.run_line(report), 600), STYLES[report.decision])
    final.append(f", exit code {report.exit_code}", "default")
    return _section("Decisions", *lines, final)
