"""Follow given tokens with a model that has read the prompts, as a second chunk into the same cache.

Never prompt and answer in one pass: a quantised or windowed cache would then go unread.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import torch


class Read(NamedTuple):
    """A batch as generate() takes it: ids and mask, shape (rows, tokens), padded on the left."""

    ids: Any
    mask: Any
    cache: Any
    """Holds all but the last token of each row, and room for its answer; None where nothing was read yet."""


def follow(model: Any, read: Read, targets: Sequence[Sequence[int]]) -> list[torch.Tensor]:  # noqa: ANN401
    """Return the final hidden states at the positions that predict given tokens; the batch stays as it was read.

    Args:
        model: a transformers model.
        read: the prompts.
        targets: one sequence a row, which may be empty.

    Returns:
        For each row states of shape (tokens, hidden).
    """
    import torch

    longest = max(1, *map(len, targets))
    last = read.ids[:, -1].tolist()
    # The token that predicts the first target, then each target but the last; padded on the right, where nothing looks.
    rows = [[first, *target[:-1]] for first, target in zip(last, targets, strict=True)]
    ids = torch.tensor([row + [0] * (longest - len(row)) for row in rows], device=read.ids.device)
    ours = torch.tensor([[1] * len(row) + [0] * (longest - len(row)) for row in rows], device=read.ids.device)
    with torch.no_grad(), _wound_back(read.cache):
        cache = read.cache if read.cache is not None else _plain_cache(model, read)
        states = _pass(model, ids, torch.cat([read.mask[:, :-1], ours], dim=1), cache).last_hidden_state
    return [states[row, : len(target)] for row, target in enumerate(targets)]


@contextmanager
def _wound_back(cache: Any) -> Iterator[None]:  # noqa: ANN401
    """Leave a cache as long as it was; None is left alone.

    What was followed stays behind the end until the next pass writes over it: `replay` takes it from there.
    """
    layers = cache.layers if cache is not None else ()
    lengths = [int(layer.get_seq_length()) for layer in layers]
    try:
        yield
    finally:
        # Layer by layer: where a pass broke off, only the first have grown.
        for layer, length in zip(layers, lengths, strict=True):
            layer.crop(length - int(layer.get_seq_length()))


def _plain_cache(model: Any, read: Read) -> Any:  # noqa: ANN401
    """Read all but the last token of each row, padding and all; None where there are no others."""
    if read.ids.shape[1] == 1:
        return None
    return _pass(model, read.ids[:, :-1], read.mask[:, :-1], None).cache


def _pass(model: Any, ids: torch.Tensor, mask: torch.Tensor, cache: Any) -> Any:  # noqa: ANN401
    given = {} if cache is None else {"cache": cache}
    # Models that take places from the index in the cache (ALiBi) take none from outside.
    if "position_ids" in inspect.signature(model.base_model.forward).parameters:
        given["position_ids"] = (mask.cumsum(dim=1) - 1).clamp(min=0)[:, -ids.shape[1] :]
    # Without the output head, which is only needed where something is scored.
    return model.base_model(input_ids=ids, attention_mask=mask, use_cache=True, **given)
