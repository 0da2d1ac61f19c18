"""Plans of suites in a terminal: every figure is there at every width."""

from __future__ import annotations

import io
from typing import Any

import pytest
from rich.console import Console

from qeval.compare.planning import Design, plan_cases, plan_size
from qeval.compare.suite_plan import SlicePlan, SuitesPlan
from qeval.reporting.planning import print_plan, print_suites_plan


def console(width: int) -> tuple[Console, io.StringIO]:
    stream = io.StringIO()
    return Console(file=stream, width=width, highlight=False, color_system=None), stream


def plan_text(width: int, design: Design, flip_rate: float = 0.10) -> str:
    target, stream = console(width)
    print_plan(design, [plan_cases(flip_rate, design)], [plan_size(flip_rate, n, design) for n in (60, 2000)], target)
    return stream.getvalue()


def row(label: str, **other: Any) -> SlicePlan:
    base: dict[str, Any] = {
        "label": label,
        "gates": True,
        "n": 12_345,
        "clusters": 10_234,
        "margin": 0.1369,
        "smallest_detectable": 0.0857,
        "cases_needed": 11_546,
        "cases_needed_together": 23_399,
        "chance": 0.808,
        "suffices": "alone",
    }
    return SlicePlan(**{**base, **other})


def suites_text(width: int, *rows: SlicePlan, correlation: float = 0.0) -> str:
    target, stream = console(width)
    plan = SuitesPlan(
        flip_rate=0.1,
        alpha=0.05,
        power=0.8,
        correlation=correlation,
        tests=6,
        must_hold=5,
        slices=rows,
        chance=0.238,
    )
    print_suites_plan(plan, target)
    return stream.getvalue()


@pytest.mark.parametrize("width", [80, 140])
def test_a_plan_has_every_figure_and_no_line_too_wide(width: int) -> None:
    text = plan_text(width, Design(margin=0.03, slices=10, cluster_size=5, correlation=0.3))
    assert "…" not in text
    assert max(map(len, text.splitlines())) <= width
    for figure in ("10.0 %", "3,272", "2,904", "2,000", "all 10 hold", "0.05 / 11", "2.2 cases say as much"):
        assert figure in " ".join(text.split())


def test_what_is_unknown_and_what_falls_short_is_said() -> None:
    short, fine = plan_text(80, Design(margin=0.03), flip_rate=0.02), plan_text(80, Design())
    assert "With few flips the planned cases fall short" in " ".join(short.split())
    assert "n/a: not even losses alone" in " ".join(short.split())
    assert "fall short" not in fine
    assert "n/a:" not in fine.replace("n/a ", "")


@pytest.mark.parametrize("width", [80, 140])
def test_suites_have_every_figure_and_no_line_too_wide(width: int) -> None:
    text = suites_text(width, row("all"), row("my-own-suite-of-contracts/lang=de", gates=False, suffices="no"))
    assert "…" not in text
    assert max(map(len, text.splitlines())) <= width
    for figure in ("12,345", "10,234", "13.7", "8.6", "11,546", "23,399", "alone", "23.8 %", "all 5 gating"):
        assert figure in text
    assert ("80.8 %" in text) == (width == 140)


def test_remarks_stand_only_where_they_belong() -> None:
    text = " ".join(suites_text(140, row("all", clusters=12_345, suffices="yes")).split())
    assert not [word for word in ("n/a", "alone:", "* advisory", "--correlation") if word in text]
    text = " ".join(suites_text(140, row("all", smallest_detectable=None, gates=False)).split())
    assert all(word in text for word in ("n/a:", "alone:", "* advisory", "--correlation"))
    assert "--correlation" not in suites_text(140, row("all"), correlation=0.2)
