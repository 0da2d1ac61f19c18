"""Copies of a model with known damage to its weights."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from qeval.selftest.copies import WEIGHTS_FILE, copy_all_but_weights

if TYPE_CHECKING:
    from torch import Tensor

Damage: TypeAlias = "Callable[[Tensor], Tensor]"
"""Given a matrix of shape (out, in), the damaged one of the same shape."""
_PROJECTION = r"model\.layers\.({layers})\..*_proj\.weight"


def noise(share: float, seed: int = 0) -> Damage:
    """Add normal noise of `share` times each matrix's own standard deviation."""
    import torch

    generator = torch.Generator().manual_seed(seed)
    return lambda weight: weight + share * weight.std() * torch.randn(weight.shape, generator=generator)


def two_bits(weight: Tensor, group: int = 64) -> Tensor:
    """Round to four levels a group of `group` weights along the input dimension, shape (out, in)."""
    groups = weight.reshape(-1, group)
    low = groups.amin(dim=1, keepdim=True)
    step = (groups.amax(dim=1, keepdim=True) - low) / 3
    return (low + step * ((groups - low) / step).round()).reshape(weight.shape)


def one_nan(weight: Tensor) -> Tensor:
    """Make the first weight NaN."""
    weight = weight.clone()
    weight[0, 0] = float("nan")
    return weight


def projections(layers: Collection[int]) -> str:
    """Return the pattern of the names of all projections in some layers."""
    return _PROJECTION.format(layers="|".join(str(layer) for layer in layers))


def damaged_copy(source: Path, target: Path, names: str, damage: Damage) -> Path:
    """Write a copy of a model folder with the matrices damaged whose whole names match a pattern.

    Raises:
        ValueError: no matrix has such a name, so that nothing would be damaged.
    """
    from safetensors.torch import load_file, save_file

    copy_all_but_weights(source, target)
    weights = load_file(source / WEIGHTS_FILE)
    chosen = [name for name in weights if re.fullmatch(names, name)]
    if not chosen:
        raise ValueError(f"no matrix in {source} is named like {names}")
    for name in chosen:
        weights[name] = damage(weights[name]).contiguous()
    save_file(weights, target / WEIGHTS_FILE, metadata={"format": "pt"})
    return target
