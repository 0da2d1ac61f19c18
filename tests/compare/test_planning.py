"""Planning against tables computed elsewhere, exact enumeration, and the properties that must hold for any design."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from qeval.compare import holding
from qeval.compare.distributions import upper_quantile
from qeval.compare.holding import holding_chance
from qeval.compare.interval import tango
from qeval.compare.mcnemar import harm_midp
from qeval.compare.planning import Design, inflated, plan_cases, plan_size
from qeval.compare.power import cases_for_alarm, cases_for_margin, cases_to_detect, smallest_detectable
from qeval.independence import kish_design_effect

SIZES = (100, 200, 300, 500, 1000, 2000, 5000)
SMALLEST_DROPS = {  # points, one-sided 5 %, power 0.8; None: not even losses alone would be shown
    0.02: (None, None, None, 1.57, 1.11, 0.79, 0.50),
    0.05: (None, 3.91, 3.20, 2.48, 1.76, 1.24, 0.79),
    0.10: (7.78, 5.53, 4.52, 3.51, 2.48, 1.76, 1.11),
    0.15: (9.53, 6.77, 5.54, 4.30, 3.04, 2.15, 1.36),
    0.20: (11.0, 7.82, 6.40, 4.96, 3.51, 2.49, 1.57),
}
MARGINS = (0.005, 0.01, 0.02, 0.03, 0.05)
PAIRS_TO_HOLD = {  # nothing wrong; under the floor of the last row no number of cases is planned
    0.02: (4947, 1237, 310, 138, 50),
    0.05: (12366, 3092, 773, 344, 124),
    0.10: (24731, 6183, 1546, 687, 248),
    0.0: (539, 268, 133, 88, 52),
}


@pytest.mark.parametrize("flip_rate", SMALLEST_DROPS)
def test_the_table_of_smallest_drops(flip_rate):
    for n, points in zip(SIZES, SMALLEST_DROPS[flip_rate], strict=True):
        drop = plan_size(flip_rate, n, Design()).smallest_detectable
        digits = 1 if points == 11.0 else 2
        assert (drop and round(100 * drop, digits)) == points, n


@pytest.mark.parametrize("flip_rate", [rate for rate in PAIRS_TO_HOLD if rate])
def test_the_table_of_pairs_to_hold_a_margin(flip_rate):
    for margin, pairs, floor in zip(MARGINS, PAIRS_TO_HOLD[flip_rate], PAIRS_TO_HOLD[0.0], strict=True):
        assert cases_to_detect(flip_rate, margin) == pairs
        assert cases_for_margin(0.0, margin) == floor
        assert plan_cases(flip_rate, Design(margin=margin)).to_hold == max(pairs, floor)


@pytest.mark.parametrize(("n", "chance"), [(200, 0.000), (500, 0.022), (1000, 0.384), (2000, 0.947)])
def test_the_table_of_ten_slices_that_must_all_hold(n, chance):
    assert plan_size(0.10, n, Design(margin=0.03, slices=10)).chance == pytest.approx(chance, abs=0.01)


@pytest.mark.parametrize(
    ("flip_rate", "n", "margin"), [(0.10, 150, 0.05), (0.02, 138, 0.03), (0.5, 60, 0.2), (1.0, 40, 0.3), (0.05, 9, 0.3)]
)
def test_the_chance_to_hold_agrees_with_all_tables_laid_out(flip_rate, n, margin):
    z = upper_quantile(0.05)
    likely = [flips for flips in range(n + 1) if stats.binom.pmf(flips, n, flip_rate) > 1e-9]
    held = sum(
        stats.binom.pmf(flips, n, flip_rate) * ways
        for flips in likely
        for losses, ways in enumerate(np.atleast_1d(stats.binom.pmf(range(flips + 1), flips, 0.5)))
        if ways > 1e-9 and tango(losses, flips - losses, n, z).low > -margin
    )
    assert holding_chance(flip_rate, n, margin) == pytest.approx(held, abs=1e-6)


@pytest.mark.parametrize(("flip_rate", "n"), [(0.10, 4000), (0.5, 800), (0.02, 20_000)])
@pytest.mark.parametrize("spreads", [1.2, 2.0, 2.5, 3.5])
def test_the_approximation_takes_over_where_it_is_close(flip_rate, n, spreads, monkeypatch):
    margin = spreads * math.sqrt(flip_rate / n)
    monkeypatch.setattr(holding, "_EXACT_UP_TO", 400)
    exact = holding_chance(flip_rate, n, margin)
    monkeypatch.setattr(holding, "_EXACT_UP_TO", 0)
    assert holding_chance(flip_rate, n, margin) == pytest.approx(exact, abs=0.003)


def exact_alarm(flip_rate: float, drop: float, n: int) -> float:
    """Probability that mid-p McNemar alarms at 5 %, when losses exceed gains by `drop`."""
    total = 0.0
    for flips in range(1, n + 1):
        weight = stats.binom.pmf(flips, n, flip_rate)
        if weight > 1e-9:
            least = next((k for k in range(flips + 1) if harm_midp(k, flips - k) <= 0.05), flips + 1)
            total += weight * stats.binom.sf(least - 1, flips, (1 + drop / flip_rate) / 2)
    return float(total)


def test_the_planned_alarm_has_the_power_it_is_planned_for():
    assert exact_alarm(0.10, 0.03, 700) == pytest.approx(0.811, abs=0.001)
    assert cases_for_alarm(0.10, 0.03) == 685
    assert exact_alarm(0.10, 0.03, 685) == pytest.approx(0.8, abs=0.01)


def test_few_flips_fall_short_of_the_planned_chance_and_the_plan_says_so():
    planned = plan_cases(0.02, Design(margin=0.03))
    assert planned.to_hold == 138
    assert planned.chance == pytest.approx(0.555, abs=0.001)


def test_holm_takes_the_pool_along_and_a_lone_slice_is_the_pool():
    assert [Design(slices=s).alarm_alpha for s in (1, 4, 10)] == pytest.approx([0.05, 0.05 / 5, 0.05 / 11])
    ten = plan_cases(0.10, Design(margin=0.03, slices=10))
    assert ten.to_alarm == cases_for_alarm(0.10, 0.03, 0.05 / 11)
    assert ten.to_hold == cases_to_detect(0.10, 0.03, power=0.8**0.1)


def test_clusters_multiply_the_cases_and_divide_what_they_count():
    clustered = Design(cluster_size=5, correlation=0.3)
    assert clustered.design_effect == pytest.approx(2.2)
    assert plan_cases(0.10, clustered).to_hold == math.ceil(1546 * 2.2)
    shown, alone = plan_size(0.10, 1100, clustered), plan_size(0.10, 500, Design())
    assert shown.smallest_detectable == pytest.approx(alone.smallest_detectable)
    assert (shown.half_width, shown.chance) == pytest.approx((alone.half_width, alone.chance))


def test_nothing_is_shown_and_nothing_planned_with_under_ten_clusters():
    design = Design(margin=0.3, cluster_size=50)
    shown = plan_size(0.10, 499, design)
    assert (shown.smallest_detectable, shown.smallest_margin, shown.chance) == (None, None, 0.0)
    assert plan_size(0.10, 500, design).chance > 0.9
    assert plan_cases(0.10, design).to_hold == 500


def test_unequal_clusters_weigh_by_their_squares():
    assert kish_design_effect([5] * 12, 0.3) == pytest.approx(Design(cluster_size=5, correlation=0.3).design_effect)
    assert kish_design_effect([9, 1], 1.0) == pytest.approx(8.2)
    assert kish_design_effect([], 0.5) == 1.0


designs = st.builds(
    Design,
    margin=st.floats(0.03, 0.3),
    slices=st.integers(1, 40),
    alpha=st.floats(0.001, 0.2),
    power=st.floats(0.5, 0.99),
    cluster_size=st.integers(1, 8),
    correlation=st.floats(0, 1),
)


@settings(max_examples=40)
@given(st.floats(0.01, 0.3), designs)
def test_what_is_needed_suffices_and_no_more(flip_rate, design):
    needed = plan_cases(flip_rate, design)
    held = plan_size(flip_rate, needed.to_hold, design).smallest_margin
    assert held is not None
    assert held <= design.margin * (1 + 1e-9)
    if needed.to_hold > 10 * design.cluster_size + design.design_effect:
        fewer = plan_size(flip_rate, math.floor(needed.to_hold - 1 - design.design_effect), design).smallest_margin
        assert fewer is None or fewer > design.margin * (1 - 1e-9)


@given(st.floats(0.01, 0.5), st.floats(0.005, 0.3), st.floats(0.001, 0.2))
def test_the_cases_of_an_alarm_are_the_inverse_of_the_smallest_drop(flip_rate, drop, alpha):
    n = cases_for_alarm(flip_rate, drop, alpha)
    seen = smallest_detectable(max(flip_rate, drop), n, alpha)
    assert seen is not None
    assert seen <= drop * (1 + 1e-9)


@settings(max_examples=40)
@given(st.floats(0.01, 0.3), designs)
def test_more_slices_and_stronger_correlation_never_take_fewer_cases(flip_rate, design):
    needed = plan_cases(flip_rate, design)
    for harder in (design._replace(slices=design.slices + 1), design._replace(correlation=1.0)):
        more = plan_cases(flip_rate, harder)
        assert more.to_hold >= needed.to_hold
        assert more.to_alarm >= needed.to_alarm
    assert inflated(10, design.design_effect) >= 10
