"""Tokenizers built in code, for tests of rendering: bytes as tokens, and any chat template."""

from __future__ import annotations

from typing import Any

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors
from transformers import PreTrainedTokenizerFast

CHATML = (
    "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{{ m['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
NO_SYSTEM = "{% if messages[0]['role'] == 'system' %}{{ raise_exception('no system turn here') }}{% endif %}" + CHATML
DROPS_SYSTEM = "{% set messages = messages | rejectattr('role', 'equalto', 'system') | list %}" + CHATML
ALTERNATES = (
    "{% for m in messages %}{% if (m['role'] == 'user') != (loop.index0 % 2 == 0) %}"
    "{{ raise_exception('roles must alternate') }}{% endif %}{% endfor %}" + CHATML
)
WITH_TOOLS = "{% if tools %}TOOLS {{ tools | tojson }}\n{% endif %}" + CHATML
WRITES_BOS = "{{ bos_token }}" + CHATML


def make_tokenizer(template: str | None, *, adds_bos: bool = False, **special: Any) -> PreTrainedTokenizerFast:
    """Build a byte-level tokenizer with `<s>`, `</s>` and chat markers as special tokens."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    words = ["<s>", "</s>", "<|im_start|>", "<|im_end|>", *alphabet]
    inner = Tokenizer(models.BPE(vocab={word: index for index, word in enumerate(words)}, merges=[]))
    inner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    inner.decoder = decoders.ByteLevel()
    inner.add_special_tokens(["<s>", "</s>", "<|im_start|>", "<|im_end|>"])
    if adds_bos:
        inner.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 0)])
    options: dict[str, Any] = {"bos_token": "<s>", "eos_token": "</s>", **special}
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=inner, **options)
    tokenizer.chat_template = template
    return tokenizer
