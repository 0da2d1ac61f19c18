"""The script that plants differences into a baseline's answers."""

from __future__ import annotations

import pytest

from qeval.outcome import Outcome
from scripts.bench_further import OTHER_TOKEN, with_differences

ANSWERS = [
    Outcome(suite="s", case=f"c{n}", batch=0, repeat=0, status="answered", text="x", token_ids=tuple(range(10, 50)))
    for n in range(2000)
]


@pytest.mark.parametrize("share", [1.0, 0.9, 0.8, 0.5])
def test_as_many_tokens_as_asked_agree_up_to_the_first_difference(share: float) -> None:
    altered, agreed = with_differences(ANSWERS, share, seed=3)
    before = [
        next((at for at, (a, b) in enumerate(zip(old.token_ids, new.token_ids, strict=True)) if a != b), 40)
        for old, new in zip(ANSWERS, altered, strict=True)
    ]
    assert agreed == sum(before) / (40 * len(ANSWERS)) == pytest.approx(share, abs=0.03)
    for old, new, place in zip(ANSWERS, altered, before, strict=True):
        changed = [at for at in range(40) if old.token_ids[at] != new.token_ids[at]]
        assert changed == [place][: place < 40]
        assert all(new.token_ids[at] == OTHER_TOKEN for at in changed)


def test_an_answer_without_tokens_has_no_place_to_differ() -> None:
    empty = ANSWERS[0].model_copy(update={"token_ids": ()})
    altered, agreed = with_differences([empty, ANSWERS[1]], 0.5, seed=1)
    assert altered[0] == empty
    assert 0 <= agreed <= 1
