from __future__ import annotations

import io
import re

import pytest
from rich.console import Console

from qeval.reporting.terminal import print_report, to_text
from tests.reporting.fake import changed, empty_report, full_report
from tests.reporting.make_golden import WIDTHS, path


@pytest.mark.parametrize("width", WIDTHS)
def test_output_equals_the_golden_file(width):
    expected = path(width).read_text(encoding="utf-8")
    assert to_text(full_report(), width) == expected, "meant? python -m tests.reporting.make_golden"


@pytest.mark.parametrize("width", [60, 80, 100, 140, 200])
def test_no_line_is_wider_than_the_terminal(report, width):
    console = Console(width=width)
    assert not [line for line in to_text(report, width).split("\n") if console.measure(line).minimum > width]


@pytest.mark.parametrize("width", WIDTHS)
def test_no_figure_is_cut_off(report, width):
    verdicts = to_text(report, width).partition("Worst changed cases")[0]
    assert "…" not in verdicts
    assert "-28.1 [-44.4, -11.9]" in verdicts


def test_no_escape_sequence_is_written_to_a_file(report):
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f]", to_text(report, 80))


def test_colours_are_used_on_a_terminal_and_hostile_escapes_are_not_passed_on(report):
    stream = io.StringIO()
    print_report(
        report, Console(file=stream, width=120, force_terminal=True, color_system="truecolor", highlight=False)
    )
    printed = stream.getvalue()
    assert "\x1b[1;31m" in printed
    assert "\x1b]0;" not in printed
    assert "\x07" not in printed


def test_the_decision_of_the_run_comes_last(report):
    last = to_text(report, 200).strip().split("\n")[-1]
    assert last.startswith("Decision: NOT COMPARABLE")
    assert last.endswith("exit code 4")


def test_square_brackets_are_text_not_markup():
    report = full_report(
        changed=(changed("nf4", "[bold]x[/bold]", "right_to_wrong", candidate_text="[red]no[/red] [/]"),)
    )
    printed = to_text(report, 120)
    assert "[bold]x[/bold]" in printed
    assert "[red]no[/red] [/]" in printed


def test_a_run_without_records_or_changes_is_still_told():
    printed = to_text(empty_report(), 80)
    assert "INCOMPLETE" in printed
    assert "nothing was compared" in printed
