"""Copies of the embedded model with known damage, to show that the gate stops it."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Collection
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file

LAYER = re.compile(r"model\.layers\.(\d+)\..*_proj\.weight")
Damage = Callable[[torch.Tensor], torch.Tensor]


def noise(share: float, seed: int = 0) -> Damage:
    """Add normal noise of `share` times each matrix's own standard deviation."""
    generator = torch.Generator().manual_seed(seed)
    return lambda weight: weight + share * weight.std() * torch.randn(weight.shape, generator=generator)


def two_bits(weight: torch.Tensor, group: int = 64) -> torch.Tensor:
    """Round to four levels a group of `group` weights along the input dimension, shape (out, in)."""
    groups = weight.reshape(-1, group)
    low = groups.amin(dim=1, keepdim=True)
    step = (groups.amax(dim=1, keepdim=True) - low) / 3
    return (low + step * ((groups - low) / step).round()).reshape(weight.shape)


def damaged_copy(source: Path, target: Path, layers: Collection[int], damage: Damage) -> Path:
    """Write a copy of a model folder with the projections of some layers damaged."""
    target.mkdir(parents=True)
    for path in source.iterdir():
        if path.is_file() and path.suffix != ".safetensors":
            shutil.copy(path, target / path.name)
    weights = load_file(source / "model.safetensors")
    for name, weight in weights.items():
        match = LAYER.fullmatch(name)
        if match and int(match[1]) in layers:
            weights[name] = damage(weight).contiguous()
    save_file(weights, target / "model.safetensors", metadata={"format": "pt"})
    return target
