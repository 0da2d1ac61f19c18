"""A tiny model that says what it is told: each byte has one successor, whatever came before."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import torch
from transformers import GenerationConfig, LlamaConfig, LlamaForCausalLM

from tests.engines import tokenizers_made_here as made


def chained_model(*chains: str, vocabulary: int = 260, tokenizer: Any = None, end_id: int = 1) -> LlamaForCausalLM:
    """Build a Llama in which each letter of a chain is followed by the next, and its last by the end token.

    A chain whose last letter stands in it before goes round there without end.

    Args:
        chains: texts; where a letter has two successors, the later chain counts.
        vocabulary: size of the embedding.
        tokenizer: has a token for each byte.
        end_id: its end token.
    """
    tokenizer = tokenizer or made.make_tokenizer(made.CHATML)
    config = LlamaConfig(
        vocab_size=vocabulary,
        hidden_size=264,
        intermediate_size=8,
        num_hidden_layers=1,
        num_attention_heads=2,
        max_position_embeddings=1024,
        bos_token_id=0,
        eos_token_id=end_id,
        pad_token_id=None,
        tie_word_embeddings=False,
    )
    model = LlamaForCausalLM(config)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.zero_()
        model.model.norm.weight.fill_(1)
        model.model.embed_tokens.weight[:, :vocabulary] = torch.eye(vocabulary)
        for chain in chains:
            tokens = tokenizer(chain, add_special_tokens=False)["input_ids"]
            if tokens[-1] not in tokens[:-1]:
                tokens = [*tokens, end_id]
            for last, following in pairwise(tokens):
                model.lm_head.weight[:, last] = 0
                model.lm_head.weight[following, last] = 1
    model.generation_config = GenerationConfig(eos_token_id=end_id)
    return model
