"""Evidence that may be looked at at any time: closed forms, fairness by counting, and hostile values."""

import itertools
import math

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import special, stats

from qeval.compare.sequential import confidence_bound, harm_evidence, margin_evidence

few = st.integers(0, 60)
margins = st.floats(-0.5, 0.5)


@st.composite
def clusters(draw):
    """Sizes and nets of up to 12 clusters."""
    sizes = draw(st.lists(st.integers(1, 6), min_size=1, max_size=12))
    return sizes, [draw(st.integers(-size, size)) for size in sizes]


@settings(max_examples=30)
@given(few, few)
def test_single_cases_give_the_closed_form(losses, gains):
    logs = (losses + gains + 1) * math.log(2) + special.betaln(losses + 1, gains + 1)
    closed = math.exp(logs) * stats.beta(losses + 1, gains + 1).sf(0.5)
    assert harm_evidence([-1] * losses + [0] * 5 + [1] * gains) == pytest.approx(closed, rel=1e-4)


@settings(max_examples=30)
@given(clusters(), st.randoms(use_true_random=False), margins)
def test_the_order_does_not_matter(table, random, margin):
    sizes, nets = table
    order = random.sample(range(len(sizes)), len(sizes))
    mixed = [sizes[i] for i in order], [nets[i] for i in order]
    assert harm_evidence(mixed[1]) == pytest.approx(harm_evidence(nets), rel=1e-12)
    assert margin_evidence(*mixed, margin) == pytest.approx(margin_evidence(sizes, nets, margin), rel=1e-12)


@pytest.mark.parametrize("sizes", [[1], [1] * 6, [1, 2, 3], [4, 4, 4, 4], [5, 1, 1, 2, 7]], ids=str)
def test_a_harm_wager_is_worth_one_where_every_net_is_as_likely_turned_around(sizes):
    signs = list(itertools.product((-1, 1), repeat=len(sizes)))
    total = sum(harm_evidence([sign * size for sign, size in zip(chosen, sizes, strict=True)]) for chosen in signs)
    assert total / len(signs) == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize("lost", [2, 5, 40])
def test_a_document_says_more_than_one_case_and_less_than_its_cases_by_themselves(lost):
    assert harm_evidence([-1]) + 0.1 < harm_evidence([-lost]) < 2 < harm_evidence([-1] * lost)
    assert harm_evidence([1]) - 0.1 > harm_evidence([lost])


@pytest.mark.parametrize("flips", [1, 4, 9])
def test_one_more_flip_is_a_fair_wager(flips):
    for losses in range(flips + 1):
        now = [-1] * losses + [1] * (flips - losses)
        after = (harm_evidence([*now, -1]) + harm_evidence([*now, 1])) / 2
        assert after == pytest.approx(harm_evidence(now), rel=1e-6)


@pytest.mark.parametrize(("loss", "gain", "margin"), [(0.03, 0.0, 0.03), (0.3, 0.2, 0.1), (0.2, 0.3, -0.1)])
def test_a_margin_wager_on_cases_is_worth_one_at_the_margin(loss, gain, margin):
    chances = {-1: loss, 0: 1 - loss - gain, 1: gain}
    for n in (1, 2, 6):
        mean = sum(
            math.prod(chances[net] for net in nets) * margin_evidence([1] * n, nets, margin)
            for nets in itertools.product(chances, repeat=n)
        )
        assert mean == pytest.approx(1, abs=1e-9)


@pytest.mark.parametrize("excess", [0.0, 0.01, 0.1])
def test_a_margin_wager_on_unequal_documents_is_worth_at_most_one_where_the_loss_is_the_margin_or_more(excess):
    # A document of 1 and one of 3 questions, each either lost whole or left as it was.
    margin, sizes = 0.2, (1, 3)
    lost = margin + excess
    mean = 0.0
    for fates in itertools.product((False, True), repeat=2):
        nets = [-size if fate else 0 for size, fate in zip(sizes, fates, strict=True)]
        mean += math.prod(lost if fate else 1 - lost for fate in fates) * margin_evidence(sizes, nets, margin)
    assert mean <= 1 + 1e-12
    assert (mean == pytest.approx(1)) == (excess == 0)


@settings(max_examples=30)
@given(clusters(), margins, margins)
def test_a_wider_margin_is_easier_to_hold(table, one, other):
    sizes, nets = table
    narrow, wide = sorted((one, other))
    assert margin_evidence(sizes, nets, narrow) <= margin_evidence(sizes, nets, wide) * (1 + 1e-12)


@settings(max_examples=30)
@given(clusters(), st.sampled_from([0.5, 0.05, 0.01]))
@example(([1] * 300, [0] * 300), 0.05)
@example(([1] * 300, [-1] * 9 + [0] * 291), 0.05)
def test_the_bound_lies_below_what_was_seen_and_everything_under_it_is_refuted(table, alpha):
    sizes, nets = table
    low = confidence_bound(sizes, nets, alpha)
    assert -1 <= low <= sum(nets) / sum(sizes) + 1e-12
    if low > -1:
        assert margin_evidence(sizes, nets, -low) >= 1 / alpha
        assert margin_evidence(sizes, nets, -(low + 1e-6)) < 1 / alpha


def test_nothing_seen_is_no_evidence():
    assert harm_evidence([]) == harm_evidence([0, 0]) == margin_evidence([], [], 0.02) == 1
    assert confidence_bound([], [], 0.05) == -1


@pytest.mark.parametrize("net", [-1, 1, -5000, 5000])
@pytest.mark.parametrize("times", [1, 100_000])
def test_huge_counts_stay_finite_and_point_the_right_way(net, times):
    sizes, nets = [abs(net)] * times, [net] * times
    harm, held = harm_evidence(nets), margin_evidence(sizes, nets, 0.02)
    assert math.isfinite(harm)
    assert math.isfinite(held)
    assert (harm > 1) == (net < 0)
    assert (held > 1) == (net > 0)
    assert -1 <= confidence_bound(sizes[:2000], nets[:2000], 0.05) <= (1 if net > 0 else -1)


@pytest.mark.parametrize("margin", [-0.999999, 0.999999])
def test_margins_at_the_edge_raise_nothing(margin):
    for net in (-1, 0, 1):
        assert math.isfinite(margin_evidence([1] * 1000, [net] * 1000, margin))
