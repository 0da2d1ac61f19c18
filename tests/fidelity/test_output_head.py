"""The output head apart from its model gives the model's own log-probabilities, whatever follows the product."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import (
    CohereConfig,
    CohereForCausalLM,
    Gemma2Config,
    Gemma2ForCausalLM,
    GraniteConfig,
    GraniteForCausalLM,
)

from qeval.errors import VariantFailed
from qeval.fidelity.output_head import head_of, load_head, save_head
from tests.engines.test_transformers import make_model

SIZES: dict[str, Any] = {
    "vocab_size": 120,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "num_key_value_heads": 2,
    "head_dim": 16,
    "initializer_range": 0.5,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
}


def models() -> dict[str, Any]:
    torch.manual_seed(3)
    return {
        "plain": make_model(),
        "soft-capped and tied": Gemma2ForCausalLM(Gemma2Config(**SIZES, final_logit_softcapping=5.0)),
        "multiplied": CohereForCausalLM(CohereConfig(**SIZES, logit_scale=0.25)),
        "divided": GraniteForCausalLM(GraniteConfig(**SIZES, logits_scaling=8.0)),
    }


@pytest.mark.parametrize("name", list(models()))
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=["fp32", "bf16"])
def test_it_gives_the_models_own_log_probabilities(name: str, dtype: torch.dtype, tmp_path: Path) -> None:
    model = models()[name].to(dtype).eval()
    ids = torch.tensor([[5, 9, 30, 7]])
    with torch.no_grad():
        found = model(input_ids=ids, output_hidden_states=True)
    states, expected = found.hidden_states[-1][0], found.logits[0].float().log_softmax(-1)
    tolerance = 1e-5 if dtype == torch.float32 else 0.3
    assert torch.allclose(head_of(model).log_probabilities(states), expected, atol=tolerance)
    save_head(model, tmp_path / "head.safetensors")
    again = load_head(tmp_path / "head.safetensors", "cpu").log_probabilities(states)
    assert torch.allclose(again, head_of(model).log_probabilities(states), atol=1e-5)


def test_weights_that_came_from_16_bits_are_stored_in_16_bits(tmp_path: Path) -> None:
    model = make_model()
    save_head(model, tmp_path / "fp32")
    for dtype in (torch.float16, torch.bfloat16):
        save_head(make_model().to(dtype).float(), tmp_path / "small")
        assert (tmp_path / "small").stat().st_size < 0.6 * (tmp_path / "fp32").stat().st_size


def test_broken_logits_are_refused_as_what_they_are() -> None:
    model = make_model()
    with torch.no_grad():
        model.model.norm.weight[3] = float("nan")
    with pytest.raises(VariantFailed, match="its logits are NaN or infinite"):
        head_of(model)


def test_logits_made_otherwise_are_refused() -> None:
    model = make_model()
    model.lm_head.register_forward_hook(lambda *given: given[2] + torch.arange(260.0))
    with pytest.raises(VariantFailed, match="in a way not known here"):
        head_of(model)
