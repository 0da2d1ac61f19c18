"""The output head in fp32, on tiny models made in code."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn
from transformers import (
    CohereConfig,
    CohereForCausalLM,
    Gemma2Config,
    Gemma2ForCausalLM,
    LlamaConfig,
    LlamaForCausalLM,
    PhiConfig,
    PhiForCausalLM,
)

from qeval.compare.build import build_report
from qeval.compare.policy import Policy
from qeval.engines.head import compute_head_in_fp32
from qeval.errors import VariantFailed
from tests.factories import make_record

VOCABULARY = 2000
SIZES: dict[str, Any] = {
    "vocab_size": VOCABULARY,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "num_key_value_heads": 1,
    "initializer_range": 0.3,
}
MODELS = {
    "tied": (LlamaForCausalLM, LlamaConfig(**SIZES, tie_word_embeddings=True)),
    "untied": (LlamaForCausalLM, LlamaConfig(**SIZES, tie_word_embeddings=False)),
    "with a bias": (PhiForCausalLM, PhiConfig(**SIZES)),
    "soft-capped": (Gemma2ForCausalLM, Gemma2Config(**SIZES, head_dim=16, final_logit_softcapping=3.0)),
    "scaled": (CohereForCausalLM, CohereConfig(**SIZES, logit_scale=0.07)),
}
IDS = torch.arange(5, 517).reshape(4, 128)


def make(name: str, dtype: torch.dtype = torch.bfloat16) -> Any:
    torch.manual_seed(3)
    kind, config = MODELS[name]
    model = kind(config).to(dtype).eval()
    if name == "with a bias":
        nn.init.normal_(model.lm_head.bias)
    return model


def logits(model: Any) -> torch.Tensor:
    with torch.no_grad():
        found: torch.Tensor = model(input_ids=IDS).logits
    return found


def in_float64(model: Any) -> torch.Tensor:
    """What the model's head gives for its own last hidden state, with what follows the head, in 64 bits."""
    with torch.no_grad():
        hidden = model.model(input_ids=IDS).last_hidden_state.double()
        bias = 0 if model.lm_head.bias is None else model.lm_head.bias.double()
        found: torch.Tensor = hidden @ model.lm_head.weight.double().T + bias
    if cap := getattr(model.config, "final_logit_softcapping", None):
        found = torch.tanh(found / cap) * cap
    return found * getattr(model.config, "logit_scale", 1)


def n_ties(found: torch.Tensor) -> int:
    best = found.topk(2).values
    return int((best[..., 0] == best[..., 1]).sum())


@pytest.mark.parametrize("name", MODELS)
def test_logits_are_those_of_the_head_in_high_precision_and_exact_ties_are_gone(name: str) -> None:
    model = make(name)
    before, expected = logits(model), in_float64(model)
    assert before.dtype == torch.bfloat16
    assert n_ties(before) > 0
    (note,) = compute_head_in_fp32(model)
    after = logits(model)
    assert after.dtype == torch.float32
    assert torch.allclose(after.double(), expected, rtol=1e-5, atol=1e-5)
    assert not torch.allclose(before.double(), expected, rtol=1e-4, atol=1e-4)
    assert n_ties(after) == 0
    assert "its copy takes 2" in note


@pytest.mark.parametrize("name", ["tied", "untied"])
def test_the_embedding_stays_as_it_is(name: str) -> None:
    model = make(name)
    embedding = model.get_input_embeddings().weight
    before = embedding.detach().clone()
    compute_head_in_fp32(model)
    assert model.get_input_embeddings().weight is embedding
    assert embedding.dtype == torch.bfloat16
    assert torch.equal(embedding, before)
    assert model.lm_head.weight.dtype == torch.float32


@pytest.mark.parametrize("name", ["tied", "with a bias"])
def test_a_model_in_fp32_keeps_its_head_and_takes_no_copy(name: str) -> None:
    model = make(name, torch.float32)
    weight, before = model.lm_head.weight, logits(model)
    assert compute_head_in_fp32(model) == ()
    assert model.lm_head.weight is weight
    assert torch.equal(logits(model), before)


def test_a_quantised_head_is_refused() -> None:
    from optimum.quanto import freeze, qint8, quantize

    model = make("untied")
    quantize(model, weights=qint8)
    freeze(model)
    with pytest.raises(VariantFailed, match="output head is quantised"):
        compute_head_in_fp32(model)


def test_a_model_that_rounds_its_logits_afterwards_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    model = make("untied")
    model.lm_head.register_forward_hook(lambda *given: given[-1].to(torch.bfloat16))
    with pytest.raises(VariantFailed, match="LlamaForCausalLM rounds its logits to bfloat16"):
        compute_head_in_fp32(model)


def test_a_model_without_a_head_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    model = make("untied")
    monkeypatch.setattr(model, "get_output_embeddings", lambda: None)
    with pytest.raises(VariantFailed, match="names no output head"):
        compute_head_in_fp32(model)


@pytest.mark.parametrize(
    ("ours", "theirs", "comparable"),
    [({"head": "model"}, {"head": "fp32"}, False), ({}, {"head": "fp32"}, False), ({}, {"head": "model"}, True)],
)
def test_one_rule_holds_for_both_arms_and_older_records_say_model(
    ours: dict[str, str], theirs: dict[str, str], comparable: bool
) -> None:
    arms = [make_record(name, {"s": [True] * 40}, decoding=said) for name, said in (("a", ours), ("b", theirs))]
    (found,) = build_report(arms[0], arms[1:], Policy(), created_at="t").candidates
    faults = found.comparability.faults
    assert faults == (
        () if comparable else ("decoding setting head: 'model' in the baseline, 'fp32' in the candidate",)
    )
