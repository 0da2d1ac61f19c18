"""What tests of several parts share: no network for model libraries, and a tiny model made in code."""

from __future__ import annotations

import os

os.environ["HF_HUB_OFFLINE"] = "1"
if "PYTEST_XDIST_WORKER" in os.environ:
    # Workers share the cores; the products of tiny models gain nothing from threads, which would spin while they wait.
    os.environ["OMP_NUM_THREADS"] = "1"

from pathlib import Path

import pytest
from hypothesis import settings

# The same examples each time, and no limit on their time: a busy machine must not fail a property.
settings.register_profile("seeded", derandomize=True, deadline=None, max_examples=40)
settings.load_profile("seeded")

CHAT_TEMPLATE = (
    "{{ bos_token }}{% for message in messages %}[{{ message['role'] }}] {{ message['content'] }}\n{% endfor %}"
    "{% if add_generation_prompt %}[assistant] {% endif %}"
)


@pytest.fixture(scope="session")
def tiny_model_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a two-layer Llama of seeded weights and a tokenizer whose tokens are the bytes of the text."""
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    folder = tmp_path_factory.mktemp("tiny-model")
    special = ["<s>", "</s>", "<pad>"]
    symbols = special + sorted(pre_tokenizers.ByteLevel.alphabet())
    core = Tokenizer(models.BPE(vocab={symbol: number for number, symbol in enumerate(symbols)}, merges=[]))
    core.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    core.decoder = decoders.ByteLevel()
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=core, bos_token="<s>", eos_token="</s>", pad_token="<pad>", model_max_length=512
    )
    tokenizer.chat_template = CHAT_TEMPLATE
    tokenizer.save_pretrained(folder)
    config = LlamaConfig(
        vocab_size=len(symbols),
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=512,
        initializer_range=0.2,  # large enough that greedy answers are no single repeated token
        tie_word_embeddings=True,
        bos_token_id=0,
        eos_token_id=1,
        pad_token_id=2,
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        LlamaForCausalLM(config).save_pretrained(folder)
    return folder
