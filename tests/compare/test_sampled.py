"""pass@k and pass^k of sampled records, and how samples enter the comparison."""

import pytest

from qeval.compare.build import build_report
from qeval.compare.policy import Policy
from qeval.compare.sampled import sampled_rates
from tests.factories import make_record

SAMPLED = {"do_sample": True, "temperature": 0.7, "samples": 3}


def sampled(variant, first, *more, **changes):
    return make_record(variant, {"s": first}, repeats=[{"s": row} for row in more], decoding=SAMPLED, **changes)


def test_rates_are_means_over_the_cases():
    record = sampled("fp32", [True, False, False], [True, False, True], [True, False, False])
    rates = {rate.k: rate for rate in sampled_rates(record)["s"]}
    assert sorted(rates) == [1, 2, 3]
    # Three of three, none, one of three.
    assert rates[1].at_least_one == rates[1].all_of_them == pytest.approx((1 + 0 + 1 / 3) / 3)
    assert rates[2].at_least_one == pytest.approx((1 + 0 + 2 / 3) / 3)
    assert rates[2].all_of_them == pytest.approx(1 / 3)
    assert rates[3].at_least_one == pytest.approx(2 / 3)
    assert sampled_rates(record)["all"] == sampled_rates(record)["s"]


def test_a_sample_without_an_answer_is_left_out():
    record = sampled("fp32", [True, False], [None, False], [True, False])
    rates = {rate.k: rate for rate in sampled_rates(record)["s"]}
    assert [rates[k].n for k in (1, 2, 3)] == [2, 2, 1]
    assert rates[1].at_least_one == 0.5


def test_greedy_records_have_none_and_reports_carry_them():
    assert sampled_rates(make_record("fp32", {"s": [True]}, repeats={"s": [False]})) == {}
    ours, theirs = (sampled(name, [True] * 40, [False] * 40, [True] * 40) for name in ("fp32", "nf4"))
    report = build_report(ours, [theirs], Policy(), created_at="t")
    assert report.variants[0].sampled["s"][0].at_least_one == pytest.approx(2 / 3)
    assert report.candidates[0].verdicts[0].baseline_rate == pytest.approx(2 / 3)
