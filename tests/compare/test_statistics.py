"""The statistics against other implementations, and the properties that must hold for any counts."""

import itertools
import random
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests

from qeval.compare.clusters import design_effect, sign_flip_tail
from qeval.compare.distributions import upper_probability, upper_quantile
from qeval.compare.interval import newcombe, noninferiority_p, tango, tango_score
from qeval.compare.mcnemar import harm_exact, harm_midp, two_sided_exact, upper_tail
from qeval.compare.multiple import benjamini_hochberg, holm
from qeval.compare.power import cases_for_margin, cases_to_detect, smallest_detectable, smallest_margin

Z90 = upper_quantile(0.05)


@st.composite
def tables(draw):
    """Losses, gains and pairs."""
    losses, gains, still = (draw(st.integers(0, 60)) for _ in range(3))
    return losses, gains, max(1, losses + gains + still)


@pytest.mark.parametrize(("losses", "gains"), [(0, 1), (7, 1), (18, 6), (86, 43), (20, 22), (738, 470)])
def test_exact_mcnemar_agrees_with_statsmodels(losses, gains):
    theirs = mcnemar([[10, gains], [losses, 10]], exact=True).pvalue
    assert two_sided_exact(losses, gains) == pytest.approx(theirs, rel=1e-9)


@given(st.integers(0, 200), st.integers(0, 200))
def test_one_sided_tails_agree_with_scipy(losses, gains):
    binomial = stats.binom(losses + gains, 0.5)
    assert harm_exact(losses, gains) == pytest.approx(binomial.sf(losses - 1), rel=1e-9)
    assert harm_midp(losses, gains) == pytest.approx(binomial.sf(losses) + binomial.pmf(losses) / 2, rel=1e-9)


@given(st.integers(0, 300), st.integers(0, 300))
def test_swapping_the_arms_mirrors_the_midp(losses, gains):
    assert harm_midp(losses, gains) + harm_midp(gains, losses) == pytest.approx(1, abs=1e-12)


def test_a_tail_of_more_than_all_flips_is_refused():
    with pytest.raises(ValueError, match="between 0 and the number of flips"):
        upper_tail(3, 2)


@given(tables())
def test_the_interval_holds_the_difference_and_lies_in_minus_one_to_one(table):
    losses, gains, n = table
    low, high = tango(losses, gains, n, Z90)
    assert -1 <= low <= (gains - losses) / n <= high <= 1
    assert low < high


@given(tables())
def test_swapping_the_arms_mirrors_the_interval(table):
    losses, gains, n = table
    low, high = tango(losses, gains, n, Z90)
    assert tango(gains, losses, n, Z90) == pytest.approx((-high, -low), abs=1e-12)


@given(tables())
def test_one_more_loss_lowers_both_ends(table):
    losses, gains, n = table
    one, more = tango(losses, gains, n + 1, Z90), tango(losses + 1, gains, n + 1, Z90)
    assert more.low <= one.low + 1e-12
    assert more.high <= one.high + 1e-12


@given(tables())
def test_more_confidence_widens_the_interval(table):
    losses, gains, n = table
    narrow, wide = tango(losses, gains, n, Z90), tango(losses, gains, n, upper_quantile(0.01))
    assert wide.low <= narrow.low
    assert narrow.high <= wide.high


@given(tables(), st.sampled_from([0.01, 0.02, 0.05, 0.2]))
def test_the_noninferiority_test_and_the_lower_end_agree(table, margin):
    losses, gains, n = table
    low = tango(losses, gains, n, Z90).low
    if abs(low + margin) > 1e-9:
        assert (noninferiority_p(losses, gains, n, margin) < 0.05) == (low > -margin)


@given(st.integers(1, 5000))
def test_no_flips_give_the_closed_form(n):
    bound = Z90**2 / (n + Z90**2)
    assert tango(0, 0, n, Z90) == pytest.approx((-bound, bound), abs=1e-12)


@pytest.mark.parametrize(("losses", "gains", "n"), [(10, 0, 10), (0, 10, 10), (1, 0, 1), (5, 5, 10)])
def test_the_interval_is_whole_when_every_pair_flips(losses, gains, n):
    low, high = tango(losses, gains, n, Z90)
    assert (low == pytest.approx(-1)) == (losses == n)
    assert (high == pytest.approx(1)) == (gains == n)
    assert tango_score(losses, gains, n, -1) in {0, float("inf")}


def test_an_impossible_table_is_refused():
    with pytest.raises(ValueError, match="no such table"):
        tango(3, 3, 5, Z90)


@given(st.lists(st.integers(0, 40), min_size=4, max_size=4).filter(any))
def test_newcombe_holds_the_difference_and_mirrors(cells):
    a, b, c, d = cells
    low, high = newcombe(a, b, c, d, 0.95)
    assert low <= (b - c) / sum(cells) <= high
    assert newcombe(a, c, b, d, 0.95) == pytest.approx((-high, -low), abs=1e-9)


@pytest.mark.parametrize("df", [None, 1, 2, 3, 9, 10, 38])
@pytest.mark.parametrize("tail", [0.2, 0.05, 0.025, 0.001])
def test_quantiles_agree_with_scipy(df, tail):
    theirs = stats.norm if df is None else stats.t(df)
    assert upper_quantile(tail, df) == pytest.approx(theirs.isf(tail), rel=1e-9)
    for point in (-3.0, -0.4, 0.0, 1.7, float("inf"), float("-inf")):
        assert upper_probability(point, df) == pytest.approx(theirs.sf(point), abs=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_holm_and_benjamini_hochberg_agree_with_statsmodels(seed):
    # A few lists only: statsmodels collects garbage in every call.
    generator = random.Random(seed)
    p_values = [round(generator.random() ** 3, 2) for _ in range(15)]
    assert holm(p_values) == pytest.approx(list(multipletests(p_values, method="holm")[1]))
    assert benjamini_hochberg(p_values) == pytest.approx(list(multipletests(p_values, method="fdr_bh")[1]))


def test_a_slice_without_data_is_no_test():
    assert holm([0.01, None, 0.04]) == [0.02, None, 0.04]
    assert benjamini_hochberg([None, 0.04, 0.02]) == [None, 0.04, 0.04]


@given(st.lists(st.integers(-4, 4), max_size=9))
def test_the_sign_flip_tail_counts_every_choice_of_signs(nets):
    sizes = [abs(net) for net in nets if net]
    seen = -sum(net for net in nets if net < 0)
    sums = [sum(chosen) for chosen in itertools.product(*([0, size] for size in sizes))]
    tail = sign_flip_tail(nets)
    assert Fraction(tail.above, tail.total) == Fraction(sum(s > seen for s in sums), len(sums))
    assert Fraction(tail.equal, tail.total) == Fraction(sum(s == seen for s in sums), len(sums))


@given(st.integers(0, 30), st.integers(0, 30))
def test_with_a_cluster_for_each_case_sign_flips_are_mcnemar(losses, gains):
    assert sign_flip_tail([-1] * losses + [1] * gains).midp == harm_midp(losses, gains)


def test_the_design_effect_of_documents_that_fail_whole():
    # 10 documents of 5 questions, two of which lose all: d = -1 for 10 of 50, mean -0.2.
    # Without clusters: 10 - 50 * 0.04 = 8. With: 10/9 * (2 * (-5 + 1)^2 + 8 * 1^2) = 10/9 * 40 = 44.44.
    effect = design_effect([5] * 10, [-5, -5] + [0] * 8, changes=10, squares=10)
    assert effect == pytest.approx(400 / 72)


@given(st.floats(0.01, 0.5), st.integers(10, 5000))
def test_planning_figures_fit_each_other(flip_rate, n):
    margin = smallest_margin(flip_rate, n)
    assert cases_to_detect(flip_rate, margin) == n
    if margin < 0.9:
        assert cases_for_margin(flip_rate, margin * 1.0001) <= max(n, cases_for_margin(0, margin * 1.0001))
    drop = smallest_detectable(flip_rate, n)
    assert drop is None or 0 < drop <= flip_rate


@pytest.mark.parametrize(
    ("flip_rate", "n", "points"),
    [(0.02, 300, None), (0.02, 500, 1.57), (0.05, 100, None), (0.05, 1000, 1.76), (0.20, 5000, 1.57), (0.1, 0, None)],
)
def test_the_smallest_detectable_drop(flip_rate, n, points):
    drop = smallest_detectable(flip_rate, n)
    assert (drop and round(100 * drop, 2)) == points
