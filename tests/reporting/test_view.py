"""The words and figures that all reports share."""

from __future__ import annotations

import pytest

from qeval.compare.report import ExcessChurn, SelfFlips
from qeval.reporting import charts, view
from tests.reporting.fake import full_report, once, picked_report, verdict


def test_every_flag_of_a_verdict_has_words():
    assert {"margin_in_noise", "ended_early"} <= view.FLAG_WORDS.keys()


def test_notable_slices_are_ranked_by_the_shrunken_difference_where_there_is_one(report):
    names = [v.slice.label for v in view.notable_slices(report.candidates[0])]
    # By the difference seen, the eight Arabic cases (-50 points) would lead the 120 Latin ones (-20).
    assert names == ["longdoc/depth=0.9", "all/script=Latn", "all/script=Arab", "multilingual/lang=ar"]


def test_what_has_no_data_is_ranked_last():
    assert view.ranking(verdict(n=0)) > view.ranking(verdict(gains=32))


@pytest.mark.parametrize(
    ("changes", "text"),
    [({}, "13.8 pp"), ({"smallest_detectable": None}, "none"), ({"n": 0}, "n/a")],
)
def test_no_drop_that_could_show_is_not_an_unknown_one(changes, text):
    assert view.detectable_text(verdict(**changes)) == text


def test_missing_cases_are_counted_from_those_there_are():
    assert view.more_text(verdict(n=32, cases_needed=1418)) == "+1,386"
    assert view.more_text(verdict(n=32)) == ""


def test_scores_are_means_in_percent_like_pass_rates():
    score = verdict("toolcalls", metric="arguments score", n=32, baseline_passed=23.4, candidate_passed=20.75)
    assert view.rates_text(score) == "73.1 → 64.8 %"


def test_the_flip_rate_of_repeated_cases_is_what_excess_churn_was_taken_from():
    own = SelfFlips(n=100, runs=5, flips=20, changed_texts=30, divergences=30, rate=0.06)
    noisy = verdict(n=100, losses=30, gains=20, baseline_self=own, candidate_self=own.model_copy(update={"rate": 0.1}),
                    excess_churn=ExcessChurn(estimate=0.04, low=-0.01, high=0.09))  # fmt: skip
    assert view.flip_rate(noisy) == pytest.approx(0.04 + (0.06 + 0.1) / 2)
    assert view.flip_rate(once(noisy)) == 0.5


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


def test_the_picked_candidate_is_named_with_the_reason():
    report = picked_report()
    assert view.run_line(report).startswith("ACCEPTED, taking nf4 (smallest of 2 accepted; ")
    alone = report.model_copy(update={"candidates": report.candidates[1:]})
    assert view.picked_text(alone) == "the only one accepted"
    assert view.picked_text(full_report()) == ""


def test_only_a_run_ended_by_what_it_showed_counts_as_ended_early(report):
    assert [c.candidate for c in report.candidates if view.ended_early(c)] == ["int8+kv=int4"]


def test_an_effective_n_is_named_where_it_differs():
    assert view.effective_text(verdict(n=32)) == ""
    assert view.effective_text(verdict(n=32, effective_n=14.63)) == "14.6"
    assert view.effective_text(verdict(n=0)) == ""
