"""GGUF files of the tiny model, whole and damaged, written with the `gguf` package."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

_NAMES = {
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
    "input_layernorm": "attn_norm",
    "post_attention_layernorm": "ffn_norm",
}


def write_gguf(
    path: Path, model: Path, keep: Callable[[str], bool] = lambda name: True, split: tuple[int, int] | None = None
) -> Path:
    """Write the tiny model's tensors whose GGUF names are to be kept.

    Args:
        path: the file to write.
        model: folder of the tiny model.
        keep: whether to write a tensor of this GGUF name.
        split: number of this part, from 0, and count of parts, where the file is one of several.
    """
    from gguf import GGUFWriter
    from safetensors.numpy import load_file

    writer = GGUFWriter(path, "llama")
    writer.add_context_length(512)
    writer.add_embedding_length(64)
    writer.add_block_count(2)
    writer.add_feed_forward_length(128)
    writer.add_head_count(4)
    writer.add_head_count_kv(2)
    writer.add_layer_norm_rms_eps(1e-6)
    writer.add_rope_dimension_count(16)
    writer.add_vocab_size(259)
    vocabulary = json.loads((model / "tokenizer.json").read_text())["model"]["vocab"]
    tokens = sorted(vocabulary, key=vocabulary.__getitem__)
    # The format wants one merge at least, so the last token is one.
    tokens[-1] = "ab"
    writer.add_tokenizer_model("gpt2")
    writer.add_token_list(tokens)
    writer.add_token_types([3, 3, 3, *[1] * (len(tokens) - 3)])
    writer.add_token_merges(["a b"])
    writer.add_bos_token_id(0)
    writer.add_eos_token_id(1)
    if split is not None:
        writer.add_uint16("split.no", split[0])
        writer.add_uint16("split.count", split[1])
    for name, tensor in load_file(model / "model.safetensors").items():
        if keep(renamed(name)):
            writer.add_tensor(renamed(name), tensor)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def renamed(name: str) -> str:
    """Return the GGUF name of a tensor."""
    if name == "model.embed_tokens.weight":
        return "token_embd.weight"
    if name == "model.norm.weight":
        return "output_norm.weight"
    _, _, layer, part = name.split(".", 3)
    return f"blk.{layer}.{_NAMES[part.removesuffix('.weight')]}.weight"
