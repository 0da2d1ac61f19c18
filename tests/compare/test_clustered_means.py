"""Means over tokens nested in clusters: by hand, against statsmodels, and how often the intervals hold the truth."""

import math
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qeval.compare.clustered_means import clustered_mean, clustered_share, percentile

values = st.floats(-1e3, 1e3)


def test_the_standard_error_by_hand():
    # Mean 1.2 / 6 = 0.2; the clusters miss it by 0.6 - 0.4, 0.3 - 0.6 and 0.3 - 0.2.
    found = clustered_mean([0.6, 0.3, 0.3], [2, 3, 1], 0.05)
    assert found.value == pytest.approx(0.2)
    se = math.sqrt(3 / 2 * (0.04 + 0.09 + 0.01)) / 6
    assert found.se == pytest.approx(se)
    # Student's t with two degrees of freedom leaves 5 % above 2.919986.
    assert (found.low, found.high) == pytest.approx((0.2 - 2.919986 * se, 0.2 + 2.919986 * se), abs=1e-6)


def test_the_standard_error_is_that_of_a_regression_with_clustered_errors():
    from statsmodels.regression.linear_model import OLS

    draw = random.Random(7)
    clusters = [c for c in range(12) for _ in range(draw.randint(1, 9))]
    tokens = [draw.expovariate(1) * (1 + c % 3) for c in clusters]
    fitted = OLS(tokens, np.ones(len(tokens))).fit(cov_type="cluster", cov_kwds={"groups": np.array(clusters)})
    sums = [sum(t for t, c in zip(tokens, clusters, strict=True) if c == name) for name in range(12)]
    found = clustered_mean(sums, [clusters.count(name) for name in range(12)], 0.05)
    assert (found.value, found.se) == pytest.approx((fitted.params[0], fitted.bse[0]))


@given(st.lists(values, min_size=2, max_size=30))
def test_tokens_without_clusters_have_the_plain_standard_error(tokens):
    found = clustered_mean(tokens, [1] * len(tokens), 0.05)
    # As llama.cpp writes it: population variance over n - 1.
    assert found.se == pytest.approx(math.sqrt(np.var(tokens) / (len(tokens) - 1)), abs=1e-9)


def test_one_cluster_says_nothing_of_its_spread():
    assert clustered_mean([3.0], [4], 0.05)[1:] == (None, None, None)
    assert clustered_share([3], [4], 0.05)[1:] == (None, None, None)


@given(
    st.lists(st.integers(1, 40).flatmap(lambda m: st.tuples(st.integers(0, m), st.just(m))), min_size=2, max_size=20)
)
def test_the_ends_of_a_share_hold_it_and_are_never_of_no_width(clusters):
    hits, sizes = zip(*clusters, strict=True)
    found = clustered_share(hits, sizes, 0.05)
    assert found.low is not None
    assert found.high is not None
    assert 0 <= found.low <= found.value <= found.high <= 1 or found.value == pytest.approx(found.high)
    assert found.high - found.low > 0


@given(st.lists(values, min_size=1, max_size=40), st.floats(0, 1))
def test_a_percentile_is_the_linear_one(found, fraction):
    assert percentile(sorted(found), fraction) == pytest.approx(np.percentile(found, 100 * fraction), abs=1e-9)


def coverage(clusters, trials, seed):
    """How often the 90 % interval holds the true mean of 1, clustered and as if tokens were independent.

    Each cluster has a level of its own (gamma, mean 1), 5 to 60 tokens, and exponential divergences about its level.
    """
    draw = np.random.default_rng(seed)
    held = naive = 0
    for _ in range(trials):
        sizes = draw.integers(5, 61, clusters)
        tokens = [
            draw.exponential(level, size) for level, size in zip(draw.gamma(3, 1 / 3, clusters), sizes, strict=True)
        ]
        found = clustered_mean([float(one.sum()) for one in tokens], [int(size) for size in sizes], 0.05)
        assert found.low is not None
        assert found.high is not None
        held += found.low <= 1 <= found.high
        flat = np.concatenate(tokens)
        naive += abs(float(flat.mean()) - 1) <= 1.645 * float(flat.std()) / math.sqrt(len(flat))
    return held / trials, naive / trials


@pytest.mark.parametrize(("clusters", "at_least"), [(10, 0.84), (40, 0.87)])
def test_intervals_hold_the_truth_about_as_often_as_they_say_where_tokens_are_nested(clusters, at_least):
    held, naive = coverage(clusters, 500, seed=20)
    assert at_least <= held <= 0.93
    assert naive < 0.6


def test_the_interval_of_a_share_holds_the_truth_where_disagreements_come_together():
    draw = np.random.default_rng(3)
    held = 0
    for _ in range(500):
        # Beta levels of mean 0.95 over 30 clusters of 20 tokens: a design effect of about 2.
        hits = draw.binomial(20, draw.beta(19, 1, 30))
        found = clustered_share([int(one) for one in hits], [20] * 30, 0.05)
        assert found.low is not None
        assert found.high is not None
        held += found.low <= 0.95 <= found.high
    assert 0.87 <= held / 500 <= 0.95
