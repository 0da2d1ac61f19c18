"""A model made in code that says what a row tells it to, and what the record then holds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from transformers import GenerationConfig, LlamaConfig, LlamaForCausalLM

from qeval.engines.transformers import TransformersEngine
from qeval.outcome import Outcome
from qeval.runner.apart import Apart
from qeval.runner.batches import Batch
from qeval.runner.outcomes import Beside, answer_batch
from qeval.runner.replaying import BatchReplay
from qeval.runner.scoring import BatchScoring
from qeval.suites.case import Case
from tests.engines import tokenizers_made_here as made

PIECES = "pieces"


def speaker(tokenizer: Any, tokens: list[int]) -> LlamaForCausalLM:
    """Build a model whose n-th choice is the n-th of the tokens, whatever it reads, and then the end token."""
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=16,
        intermediate_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        max_position_embeddings=2_048,
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=None,
    )
    model = LlamaForCausalLM(config)
    model.generation_config = GenerationConfig(eos_token_id=tokenizer.eos_token_id)
    left = iter([*tokens, *[tokenizer.eos_token_id] * 2_000])

    def forward(hidden: torch.Tensor) -> torch.Tensor:
        logits = torch.zeros(*hidden.shape[:-1], len(tokenizer))
        logits[..., next(left)] = 1.0
        return logits

    model.lm_head.forward = forward
    return model


def outcome_of(row: dict[str, Any], folder: Path) -> Outcome:
    """Return the outcome of a row.

    It gives the tokenizer's tokens (`special`, `added`, `pad`), the end of the prompt, the pieces that are said, how
    many tokens the limit cuts off (`cut`), stop texts, tools and the grader.
    """
    tokenizer = (
        made.make_piece_tokenizer(row.get("special", []))
        if row.get("tokenizer") == PIECES
        else made.make_tokenizer(
            made.CHATML + row.get("prompt_end", ""),
            marks=row.get("special", []),
            plain_marks=row.get("added", []),
            pad_token=row.get("pad"),
            **row.get("options", {}),
        )
    )
    tokens = [token for piece in row["says"] for token in tokenizer(piece, add_special_tokens=False)["input_ids"]]
    case = Case(
        id="c",
        messages=[{"role": "user", "content": row.get("question", "Where?")}],
        graders=[row["grader"]],
        tools=row.get("tools", ()),
        stop=row.get("stop", ()),
        max_new_tokens=len(tokens) - row["cut"] if "cut" in row else len(tokens) + 1,
    )
    engine = TransformersEngine(speaker(tokenizer, tokens), tokenizer, "cpu")
    prompt = engine.render("s", case)
    if "cut" in row and prompt.thought_tokens:
        prompt = prompt._replace(thought_tokens=case.max_new_tokens)
    batch = Batch(0, 0, (prompt,))
    apart = Apart(lambda: 0.0)
    beside = Beside(apart, BatchScoring(None, batch, folder, apart), BatchReplay(None, batch, apart, lambda: 0.0))
    (outcome,) = answer_batch(engine, batch, beside, lambda _: None).outcomes
    return outcome
