"""Distances between distributions: a hand-made example, and properties."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from qeval.fidelity.distance import distances

# p = (1/2, 1/4, 1/8, 1/8), q = (1/4, 1/2, 1/8, 1/8): KL = 1/2 ln 2 + 1/4 ln 1/2 = 1/4 ln 2.
P = torch.tensor([[0.5, 0.25, 0.125, 0.125]]).log()
Q = torch.tensor([[0.25, 0.5, 0.125, 0.125]]).log()


def test_a_hand_made_example_agrees_to_a_millionth():
    found = distances(P, Q, torch.tensor([1]))
    assert found.kl == pytest.approx([math.log(2) / 4], abs=1e-6)
    assert found.total_variation == pytest.approx([0.25], abs=1e-6)
    assert found.entropy == pytest.approx([1.75 * math.log(2)], rel=1e-5)
    assert found.reference_logprob == pytest.approx([math.log(0.25)], rel=1e-5)
    assert found.logprob == pytest.approx([math.log(0.5)], rel=1e-5)
    assert found.gap == pytest.approx([math.log(2)], rel=1e-5)
    assert found.shift == pytest.approx([-2 * math.log(2)], rel=1e-5)
    assert (found.reference_top, found.top) == ([0], [1])
    assert found.reverse_kl is None


def test_the_reverse_divergence_by_hand_is_weighed_by_the_variant():
    # p = (1/2, 1/2), q = (3/4, 1/4): KL(q || p) = 3/4 ln 3/2 + 1/4 ln 1/2, and KL(p || q) = 1/2 ln 2/3 + 1/2 ln 2.
    p, q = (torch.tensor([values]).log() for values in ([0.5, 0.5], [0.75, 0.25]))
    found = distances(p, q, torch.tensor([0]), reverse=True)
    assert found.reverse_kl == pytest.approx([0.75 * math.log(1.5) - 0.25 * math.log(2)], abs=1e-6)
    assert found.kl == pytest.approx([0.5 * math.log(4 / 3)], abs=1e-6)


logits = st.lists(st.floats(-20, 20, width=32), min_size=5, max_size=5)


@given(logits, logits)
def test_distances_are_those_of_distributions(one: list[float], other: list[float]) -> None:
    p, q = (torch.tensor([values]).log_softmax(-1) for values in (one, other))
    found = distances(p, q, torch.tensor([0]))
    exact = (p.double().exp() * (p.double() - q.double())).sum()
    assert found.kl[0] == pytest.approx(max(0.0, float(exact)), rel=1e-3, abs=1e-5)
    assert 0 <= found.total_variation[0] <= 1 + 1e-6
    # Pinsker's inequality.
    assert found.total_variation[0] <= math.sqrt(found.kl[0] / 2) + 1e-3
    same = distances(p, p, torch.tensor([0]))
    assert (same.kl[0], same.total_variation[0], same.shift[0]) == (0, 0, 0)


@given(logits, logits)
def test_the_reverse_divergence_is_never_negative_and_that_of_the_arms_exchanged(
    one: list[float], other: list[float]
) -> None:
    p, q = (torch.tensor([values]).log_softmax(-1) for values in (one, other))
    found = distances(p, q, torch.tensor([0]), reverse=True)
    assert found.reverse_kl is not None
    assert found.reverse_kl[0] >= 0
    assert found.reverse_kl == distances(q, p, torch.tensor([0])).kl
