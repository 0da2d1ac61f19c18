"""Tokenizers built in code, for tests of rendering: bytes as tokens, and any chat template."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, processors
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


def make_tokenizer(
    template: str | None,
    *,
    adds_bos: bool = False,
    marks: Sequence[str] = (),
    plain_marks: Sequence[str] = (),
    **special: Any,
) -> PreTrainedTokenizerFast:
    """Build a byte-level tokenizer with `<s>`, `</s>` and chat markers as special tokens.

    `marks` are further special tokens, which swallow blanks around them when they are read; `plain_marks` are added
    tokens that are not special.
    """
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    words = ["<s>", "</s>", "<|im_start|>", "<|im_end|>", *alphabet]
    inner = Tokenizer(models.BPE(vocab={word: index for index, word in enumerate(words)}, merges=[]))
    inner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    inner.decoder = decoders.ByteLevel()
    inner.add_special_tokens(["<s>", "</s>", "<|im_start|>", "<|im_end|>"])
    inner.add_special_tokens([AddedToken(mark, lstrip=True, rstrip=True, normalized=False) for mark in marks])
    inner.add_tokens([AddedToken(mark, normalized=False) for mark in plain_marks])
    if adds_bos:
        inner.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 0)])
    options: dict[str, Any] = {"bos_token": "<s>", "eos_token": "</s>", **special}
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=inner, **options)
    tokenizer.chat_template = template
    return tokenizer


def make_piece_tokenizer(marks: Sequence[str]) -> PreTrainedTokenizerFast:
    """Build a tokenizer in the manner of SentencePiece: blanks as `▁`, one before the first word, bytes as `<0x0A>`."""
    letters = [chr(code) for code in range(33, 127)]
    words = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256)), "▁", *letters]
    vocabulary = {word: index for index, word in enumerate(words)}
    inner = Tokenizer(models.BPE(vocab=vocabulary, merges=[], byte_fallback=True, unk_token="<unk>"))
    inner.pre_tokenizer = pre_tokenizers.Metaspace()
    blanks = [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    inner.decoder = decoders.Sequence(blanks)
    inner.add_special_tokens(["<unk>", "<s>", "</s>", *marks])
    return PreTrainedTokenizerFast(
        tokenizer_object=inner, bos_token="<s>", eos_token="</s>", unk_token="<unk>", chat_template=CHATML
    )
