"""Seeded choices must not differ between machines."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qeval.suites.draw import Draw


def test_a_seed_gives_the_sequence_it_always_gave():
    draw = Draw(7, "contract", 3)
    assert [draw.whole(1, 100) for _ in range(6)] == [98, 26, 99, 10, 47, 51]
    assert Draw("a").shuffled("abcdef") == list("defcab")


@given(st.integers(), st.lists(st.integers(), max_size=30))
def test_shuffling_keeps_all_items(seed, items):
    assert sorted(Draw(seed).shuffled(items)) == sorted(items)


@given(st.integers(), st.integers(-50, 50), st.integers(0, 50))
def test_whole_numbers_lie_in_their_range(seed, low, width):
    assert low <= Draw(seed).whole(low, low + width) <= low + width


def test_every_item_can_be_picked():
    draw = Draw("all")
    assert {draw.pick("abc") for _ in range(100)} == set("abc")


def test_a_sample_larger_than_its_items_is_refused():
    with pytest.raises(ValueError, match="3 different items asked for, of 2"):
        Draw(1).sample("ab", 3)
