"""Following given tokens as a second chunk: the states are those of one plain pass, and nothing is left behind."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from transformers import MistralConfig, MistralForCausalLM

from qeval.engines.base import Answer, Reading
from tests.engines.test_transformers import LONG, SHORT, make_engine, make_model, prompt, quiet

TARGETS = [[8, 9, 10, 11, 12], [20, 21]]


def followed(model: Any, prompts: list[Any], targets: list[list[int]]) -> list[torch.Tensor]:
    seen: list[list[torch.Tensor]] = []

    def on_read(reading: Reading) -> None:
        seen.append(reading.follow([Answer(tuple(target), ended=False) for target in targets]))
        seen.append(reading.follow([Answer(tuple(target), ended=False) for target in targets]))

    make_engine(model).answer(prompts, quiet, on_read)
    for one, again in zip(*seen, strict=True):
        assert torch.equal(one, again)
    return seen[0]


def windowed() -> Any:
    torch.manual_seed(5)
    sizes = {"hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 2, "num_attention_heads": 4}
    return MistralForCausalLM(
        MistralConfig(
            vocab_size=260, num_key_value_heads=2, sliding_window=6, initializer_range=0.3, eos_token_id=1, **sizes
        )
    ).eval()


@pytest.mark.parametrize("make", [make_model, windowed], ids=["full", "windowed"])
@pytest.mark.parametrize("prompts", [[SHORT, LONG], [prompt("one", [7]), prompt("other", [9])]], ids=["long", "one"])
def test_states_are_those_of_one_plain_pass(make: Any, prompts: list[Any]) -> None:
    model = make()
    found = followed(model, prompts, TARGETS)
    for row, (asked, target) in enumerate(zip(prompts, TARGETS, strict=True)):
        ids = torch.tensor([[*asked.token_ids, *target[:-1]]])
        with torch.no_grad():
            plain = model.base_model(input_ids=ids).last_hidden_state[0, -len(target) :]
        assert torch.allclose(found[row], plain, atol=1e-4)


@pytest.mark.parametrize("make", [make_model, windowed], ids=["full", "windowed"])
def test_answers_are_the_same_after_following(make: Any) -> None:
    plain = make_engine(make()).answer([SHORT, LONG], quiet)

    def on_read(reading: Reading) -> None:
        reading.follow([Answer(tuple(target), ended=False) for target in TARGETS])

    assert make_engine(make()).answer([SHORT, LONG], quiet, on_read) == plain


def test_rows_without_targets_have_no_states() -> None:
    found = followed(make_model(), [SHORT, LONG], [[], [20, 21]])
    assert [len(states) for states in found] == [0, 2]
