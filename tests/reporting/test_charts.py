"""Geometry of the charts."""

from __future__ import annotations

from qeval.compare.report import SelfFlips
from qeval.reporting import charts
from tests.reporting.fake import full_report, verdict


def test_the_noise_chart_draws_chances_and_not_counts_over_many_runs():
    own = SelfFlips(n=100, runs=5, flips=20, changed_texts=30, divergences=30, rate=0.06)
    candidate = (
        full_report()
        .candidates[0]
        .model_copy(update={"verdicts": (verdict(n=100, baseline_self=own, candidate_self=own),)})
    )
    flips, texts = charts.noise(full_report(candidates=(candidate,)))
    assert [(bar.width, bar.text) for bar in flips.bars[1:]] == [(6.0, "6.0 % (n 100)")] * 2
    assert [bar.label for bar in texts.bars[1:]] == [
        "against itself, any of 5 runs",
        "baseline against itself, any of 5 runs",
    ]
