"""pass@k and pass^k against golden values, by their properties, and by listing every draw."""

from itertools import combinations, product
from math import isclose

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qeval.compare.passk import pass_at_k, pass_hat_k
from qeval.errors import UsageError
from tests.compare.test_golden import close, entries

counts = st.integers(1, 40).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n), st.integers(1, n)))


@pytest.mark.parametrize("entry", entries("pass_at_k"), ids=str)
def test_golden(entry):
    for name, function in (("pass_at_k", pass_at_k), ("pass_hat_k", pass_hat_k)):
        if name in entry:
            assert close(function(entry["n"], entry["c"], entry["k"]), entry[name])


@given(counts)
def test_bounds_and_order(drawn):
    n, c, k = drawn
    assert 0 <= pass_hat_k(n, c, k) <= c / n <= pass_at_k(n, c, k) <= 1
    if c < n:
        assert pass_at_k(n, c, k) <= pass_at_k(n, c + 1, k)
        assert pass_hat_k(n, c, k) <= pass_hat_k(n, c + 1, k)
    if k < n:
        assert pass_at_k(n, c, k) <= pass_at_k(n, c, k + 1)
        assert pass_hat_k(n, c, k) >= pass_hat_k(n, c, k + 1)
    assert (pass_at_k(n, 0, k), pass_at_k(n, n, k), pass_hat_k(n, 0, k), pass_hat_k(n, n, k)) == (0, 1, 0, 1)


@given(counts)
def test_one_draw_is_the_share_of_passes(drawn):
    n, c, _ = drawn
    assert pass_at_k(n, c, 1) == pass_hat_k(n, c, 1) == c / n


@given(st.integers(1, 9).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n), st.integers(1, n))))
def test_they_are_the_shares_of_all_draws_with_one_and_with_all_passes(drawn):
    n, c, k = drawn
    draws = list(combinations([True] * c + [False] * (n - c), k))
    assert isclose(pass_at_k(n, c, k), sum(map(any, draws)) / len(draws))
    assert isclose(pass_hat_k(n, c, k), sum(map(all, draws)) / len(draws))


@given(st.integers(1, 7).flatmap(lambda n: st.tuples(st.just(n), st.integers(1, n))), st.floats(0.05, 0.95))
def test_they_are_unbiased_over_every_outcome_of_n_independent_samples(drawn, p):
    n, k = drawn
    at, hat = 0.0, 0.0
    for outcome in product((True, False), repeat=n):
        c = sum(outcome)
        weight = p**c * (1 - p) ** (n - c)
        at += weight * pass_at_k(n, c, k)
        hat += weight * pass_hat_k(n, c, k)
    assert isclose(at, 1 - (1 - p) ** k)
    assert isclose(hat, p**k)


@pytest.mark.parametrize("function", [pass_at_k, pass_hat_k])
@pytest.mark.parametrize(("n", "c", "k"), [(3, 1, 4), (3, 1, 0), (0, 0, 1), (3, 4, 1), (3, -1, 1)])
def test_what_cannot_be_is_refused(function, n, c, k):
    with pytest.raises(UsageError, match=r"must lie between 1 and the|cannot have passed"):
        function(n, c, k)
