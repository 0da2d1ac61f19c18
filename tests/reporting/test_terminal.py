from __future__ import annotations

import io
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from qeval.reporting import figures
from qeval.reporting.terminal import print_report, to_text
from tests.reporting.fake import changed, empty_report, full_report, picked_report, verdict
from tests.reporting.make_golden import WIDTHS, path
from tests.reporting.strategies import few


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


def rows(printed: str, name: str) -> list[str]:
    return [line for line in printed.split("\n") if line.startswith(f"  {name} ")]


@pytest.mark.parametrize("width", [60, *WIDTHS])
def test_every_row_says_what_its_cases_could_show(report, width):
    printed = to_text(report, width).partition("Slices that")[0]
    figures = {line.split()[0] for line in rows(printed, "all") + rows(printed, "refusal") if "13.8" in line.split()}
    assert figures == {"all", "refusal"}
    assert " none " in rows(printed, "toolcalls")[0]


def test_an_inconclusive_row_says_below_its_ruling_how_many_cases_it_needs_where_a_column_has_no_room(report):
    lines = to_text(report, 80).split("\n")
    at = next(i for i, line in enumerate(lines) if line.startswith("  toolcalls "))
    assert lines[at].index("inconclusive") == lines[at + 1].index("needs +1,386")
    assert rows(to_text(report, 140), "toolcalls")[0].endswith("inconclusive  +1,386")


def test_excess_churn_stands_with_its_interval_and_raw_counts_only_where_there_is_room_for_both(report):
    middle, wide = to_text(report, 140), to_text(report, 180)
    assert "+6.9 [-1.1, +14.9]" in rows(middle, "all")[0]
    assert "1 of 24 | 2 of 24" not in middle
    assert "1 of 24 | 2 of 24" in rows(wide, "all")[0]


def test_raw_counts_are_shown_where_there_is_no_excess_churn(report):
    own = [v.model_copy(update={"excess_churn": None}) for v in report.candidates[0].verdicts]
    printed = to_text(full_report(candidates=(report.candidates[0].model_copy(update={"verdicts": tuple(own)}),)), 140)
    assert "excess churn" not in printed
    assert "1 of 24 | 2 of 24" in rows(printed, "all")[0]


@given(
    n=st.integers(1, 10**5),
    flips=st.tuples(st.integers(0, 10**5), st.integers(0, 10**5)),
    more=st.integers(1, 10**6),
    width=st.integers(60, 200),
)
@few
def test_no_figure_is_broken_at_any_width(n, flips, more, width):
    losses, gains = (min(count, n) for count in flips)
    one = verdict(n=n, losses=losses, gains=gains, ruling="inconclusive", cases_needed=n + more)
    candidate = full_report().candidates[0].model_copy(update={"verdicts": (one,)})
    printed = to_text(full_report(candidates=(candidate,)), width).partition("Worst changed")[0]
    assert f"{n:,}" in rows(printed, "all")[0].split()
    assert f"+{more:,}" in printed
    assert figures.difference_text(one).replace(" pp", "") in rows(printed, "all")[0]


def test_a_run_that_was_ended_early_is_marked(report):
    printed = to_text(report, 140)
    assert "int8+kv=int4  INCONCLUSIVE  ended early" in printed
    assert "int8+kv=int4: INCONCLUSIVE, ended early (not required)." in printed
    assert printed.count("ended early by proven harm after 32 of 160 cases") == 1
    assert "nf4  REGRESSED\n" in printed


def test_the_last_line_says_which_candidate_was_picked_and_why():
    last = to_text(picked_report(), 200).strip().split("\n")[-1]
    assert last.startswith("Decision: ACCEPTED, taking nf4 (smallest of 2 accepted; ")
