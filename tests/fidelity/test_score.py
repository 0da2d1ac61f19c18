"""Scoring along an answer: what was stored is held against what was, at every position."""

from __future__ import annotations

import pytest
import torch

from qeval.engines.base import Answer
from qeval.fidelity.output_head import OutputHead
from qeval.fidelity.score import POSITIONS_AT_ONCE, Item, Place, Words, reconstruction_kl, score

HEAD = OutputHead(lambda states: states, scale=1.0, cap=None, vocabulary=3)


@pytest.mark.parametrize("place", [0, POSITIONS_AT_ONCE, POSITIONS_AT_ONCE + 9])
def test_a_position_stored_amiss_is_found_however_long_the_answer(place: int) -> None:
    states = torch.zeros(POSITIONS_AT_ONCE + 10, 2)
    kept = states.clone()
    kept[place, 0] = torch.log(torch.tensor(3.0))
    # KL of (1/2, 1/2) against (3/4, 1/4).
    assert reconstruction_kl(HEAD, states, kept) == pytest.approx(0.1438410, abs=1e-6)
    assert reconstruction_kl(HEAD, states, states) == 0


def item(case: str, tokens: tuple[int, ...], states: torch.Tensor, *, ended: bool = False) -> Item:
    return Item(Place("s", case, 0, 0, ()), Answer(tokens, ended), torch.zeros(len(states), 3), states)


def test_a_value_that_is_not_finite_costs_its_own_case_alone() -> None:
    bad = torch.zeros(3, 3)
    bad[1, 2] = float("nan")
    items = [item("a", (0, 1), torch.eye(3)[:2]), item("b", (0, 1, 2), bad), item("c", (2,), torch.eye(3)[2:])]
    one, hurt, other = score(items, HEAD, HEAD, Words(str, (1,)))
    assert hurt.fault == "numeric_error"
    assert hurt.kl == ()
    assert (len(one.kl), len(other.kl)) == (2, 1)
    assert (one.top, other.top) == ((0, 1), (2,))
    alone = score([items[2]], HEAD, HEAD, Words(str, (1,)))
    assert alone == [other]


def test_positions_of_all_cases_are_cut_into_parts_and_put_together_again() -> None:
    torch.manual_seed(1)
    long = torch.randn(POSITIONS_AT_ONCE + 5, 3)
    items = [item("a", (0,), torch.randn(1, 3)), item("b", (1,) * len(long), long), item("c", (2,), torch.randn(1, 3))]
    for reverse in (False, True):
        whole = score(items, HEAD, HEAD, Words(str, (1,)), reverse=reverse)
        assert whole == [score([one], HEAD, HEAD, Words(str, (1,)), reverse=reverse)[0] for one in items]
        assert [one.reverse_kl and len(one.reverse_kl) for one in whole] == (
            [1, len(long), 1] if reverse else [None] * 3
        )


def test_the_end_is_the_end_token_that_the_reference_likes_best() -> None:
    ended = item("a", (0,), torch.eye(3)[:2], ended=True)._replace(reference=torch.tensor([[0.0, 0, 0], [0, 1.0, 2.0]]))
    (found,) = score([ended], HEAD, HEAD, Words(str, (1, 2)))
    assert found.reference_logprob[1] == pytest.approx(float(torch.tensor([0.0, 1, 2]).log_softmax(-1)[2]), abs=1e-5)
