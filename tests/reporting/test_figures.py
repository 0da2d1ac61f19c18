"""The figures of a verdict as text."""

from __future__ import annotations

import pytest

from qeval.compare.report import ExcessChurn, SelfFlips
from qeval.reporting import figures
from tests.reporting.fake import once, verdict


@pytest.mark.parametrize(
    ("changes", "text"),
    [({}, "13.8 pp"), ({"smallest_detectable": None}, "none"), ({"n": 0}, "n/a")],
)
def test_no_drop_that_could_show_is_not_an_unknown_one(changes, text):
    assert figures.detectable_text(verdict(**changes)) == text


def test_missing_cases_are_counted_from_those_there_are():
    assert figures.more_text(verdict(n=32, cases_needed=1418)) == "+1,386"
    assert figures.more_text(verdict(n=32)) == ""


def test_scores_are_means_in_percent_like_pass_rates():
    score = verdict("toolcalls", metric="arguments score", n=32, baseline_passed=23.4, candidate_passed=20.75)
    assert figures.rates_text(score) == "73.1 → 64.8 %"


def test_the_flip_rate_of_repeated_cases_is_what_excess_churn_was_taken_from():
    own = SelfFlips(n=100, runs=5, flips=20, changed_texts=30, divergences=30, rate=0.06)
    noisy = verdict(n=100, losses=30, gains=20, baseline_self=own, candidate_self=own.model_copy(update={"rate": 0.1}),
                    excess_churn=ExcessChurn(flip_rate=0.12, estimate=0.04, low=-0.01, high=0.09))  # fmt: skip
    assert figures.flip_rate(noisy) == 0.12
    assert figures.flip_rate(once(noisy)) == 0.5


def test_an_effective_n_is_named_where_it_differs():
    assert figures.effective_text(verdict(n=32)) == ""
    assert figures.effective_text(verdict(n=32, effective_n=14.63)) == "14.6"
    assert figures.effective_text(verdict(n=0)) == ""
