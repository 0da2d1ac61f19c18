"""Hidden states on disk."""

from __future__ import annotations

from pathlib import Path

import torch

from qeval.fidelity.states import StateStore


def test_states_take_two_bytes_a_number_and_little_more(tmp_path: Path) -> None:
    store = StateStore(tmp_path)
    rows = {row: torch.randn(30, 576) for row in range(8)}
    store.save(0, rows)
    plain = 8 * 30 * 576 * 2
    assert plain <= store.state_bytes <= 1.05 * plain
    found = store.load(0, 3)
    assert found is not None
    assert torch.equal(found, rows[3].half())
    assert store.load(0, 8) is None
    assert store.load(1, 0) is None


def test_a_state_too_large_for_16_bits_is_kept_whole(tmp_path: Path) -> None:
    store = StateStore(tmp_path)
    large = torch.tensor([[1.0, 70_000.0]])
    store.save(2, {0: large, 1: large / 2})
    found = store.load(2, 0)
    assert found is not None
    assert torch.equal(found, large)
    other = store.load(2, 1)
    assert other is not None
    assert other.dtype == torch.float16
