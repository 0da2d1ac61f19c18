"""Scoring along an answer: what was stored is held against what was, at every position."""

from __future__ import annotations

import pytest
import torch

from qeval.fidelity.output_head import OutputHead
from qeval.fidelity.score import POSITIONS_AT_ONCE, reconstruction_kl

HEAD = OutputHead(lambda states: states, scale=1.0, cap=None)


@pytest.mark.parametrize("place", [0, POSITIONS_AT_ONCE, POSITIONS_AT_ONCE + 9])
def test_a_position_stored_amiss_is_found_however_long_the_answer(place: int) -> None:
    states = torch.zeros(POSITIONS_AT_ONCE + 10, 2)
    kept = states.clone()
    kept[place, 0] = torch.log(torch.tensor(3.0))
    # KL of (1/2, 1/2) against (3/4, 1/4).
    assert reconstruction_kl(HEAD, states, kept) == pytest.approx(0.1438410, abs=1e-6)
    assert reconstruction_kl(HEAD, states, states) == 0
