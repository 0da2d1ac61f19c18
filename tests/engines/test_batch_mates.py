"""The batch-mate test, on a model whose rows are made to depend on each other; and what people are told."""

from __future__ import annotations

import re

import pytest
import torch
from transformers import LlamaForCausalLM

from qeval.engines.batch_mates import batch_mates_notes, largest_move
from qeval.variants.spec import parse_variant
from tests.engines.test_transformers import make_model


def leaking(value: float) -> LlamaForCausalLM:
    """A model that adds to each row's logits a multiple of the mean over all rows."""
    model = make_model().eval()
    model.lm_head.register_forward_hook(lambda *given: given[-1] + value * given[-1].mean(dim=0, keepdim=True))
    return model


def test_rows_that_stand_apart_do_not_move_at_all() -> None:
    assert largest_move(make_model().eval(), "cpu", 0) == 0


def test_the_move_is_the_largest_of_any_logit_of_the_row_that_stayed() -> None:
    once, twice = (largest_move(leaking(value), "cpu", 0) for value in (0.25, 0.5))
    assert once is not None
    assert once > 0.1
    assert twice == pytest.approx(2 * once, rel=1e-4)
    assert largest_move(leaking(0.25), "cpu", 0) == once
    assert largest_move(leaking(0.25), "cpu", 1) != once


def test_both_passes_have_the_same_shape_and_share_the_first_row_alone() -> None:
    model, seen = make_model().eval(), []
    model.model.register_forward_pre_hook(lambda module, args, given: seen.append(given["input_ids"]), with_kwargs=True)
    largest_move(model, "cpu", 0)
    first, second = seen
    assert first.shape == second.shape == (8, 32)
    assert torch.equal(first[0], second[0])
    assert (first[1:] != second[1:]).any(dim=1).all()


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_logits_that_are_not_finite_are_no_figure(value: float) -> None:
    assert largest_move(leaking(value), "cpu", 0) is None


@pytest.mark.parametrize(
    ("variant", "move", "said"),
    [
        ("int8", 0.0, None),
        ("int8", None, None),
        ("int8+keep=lm_head", 1.7034, "move by up to 1.7, so an .*; int8\\+keep=lm_head\\+threshold=0 ends that$"),
        ("int8+threshold=3", 1.7034, "with batching$"),
        ("bf16", 1e-6, "move by up to 1e-06, so an answer can change with batching$"),
    ],
)
def test_a_note_names_figure_and_remedy_where_there_is_something_to_say(
    variant: str, move: float | None, said: str | None
) -> None:
    notes = batch_mates_notes(parse_variant(variant), move)
    assert len(notes) == (said is not None)
    if said is not None:
        assert re.search(said, notes[0])
