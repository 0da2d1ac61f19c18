"""The batch-mate test: does a row's result change when only the other rows of its batch do?

Where it does, answers change with batching, and a difference between two variants may be nothing else. LLM.int8 is
the known case: it picks its outlier columns over the whole batch.
"""

from __future__ import annotations

from typing import Any

from qeval.variants.base import find_format
from qeval.variants.spec import Variant

ROWS = 8
TOKENS = 32


def largest_move(model: Any, device: str, seed: int) -> float | None:  # noqa: ANN401 - transformers is untyped
    """Return the largest move of a logit of the first row when all other rows are replaced; None: not finite.

    Both passes have the same shapes, since another shape may be multiplied by another program.

    Args:
        model: a loaded transformers model.
        device: where it lies.
        seed: of the random token ids; all rows begin with other tokens.
    """
    import torch

    n_tokens = model.get_input_embeddings().weight.shape[0]
    chance = torch.Generator().manual_seed(seed)
    first, one, other = (
        torch.randint(n_tokens, (rows, TOKENS), generator=chance).to(device) for rows in (1, ROWS - 1, ROWS - 1)
    )
    with torch.no_grad():
        before, after = (model(input_ids=torch.cat([first, mates])).logits[0].float() for mates in (one, other))
    move = float((before - after).abs().max())
    return move if move < float("inf") else None


def batch_mates_notes(variant: Variant, move: float | None) -> tuple[str, ...]:
    """Say it where a variant's rows depend on each other, with what ends it where that is known."""
    if not move:
        return ()
    fmt = find_format(variant.format)
    remedy = fmt.apart if fmt.apart and not variant.values(fmt.apart.partition("=")[0]) else ""
    ended = f"; {variant.text}+{remedy} ends that" if remedy else ""
    return (
        f"rows depend on their batch mates: with other rows beside it, a row's logits move by up to {move:.2g}, so an "
        f"answer can change with batching{ended}",
    )
