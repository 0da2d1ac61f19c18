"""Shrinkage: of many slices, the worst one seen is mostly worse than it is.

A random-effects model pulls each slice towards the mean, the more so the less its own cases say. For ranking and
display only: it would hide exactly the one broken slice that a gate looks for.

Source: DerSimonian and Laird 1986, doi:10.1016/0197-2456(86)90046-2.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class Shrunken(NamedTuple):
    """Slices pulled towards their mean."""

    mean: float
    between_variance: float
    """tau^2: how much true differences vary from slice to slice."""
    effects: tuple[float, ...]


def shrink(effects: Sequence[float], variances: Sequence[float]) -> Shrunken:
    """Pull effects towards their mean, weighted by what each is known to.

    Args:
        effects: the difference of each slice, one at least.
        variances: squared standard errors, above 0, in the same order.

    >>> found = shrink([-0.05, 0.0, 0.0, 0.01], [0.0001] * 4)
    >>> [round(effect, 3) for effect in found.effects]
    [-0.045, -0.001, -0.001, 0.007]
    """
    weights = [1 / variance for variance in variances]
    fixed = _weighted(effects, weights)
    spread = sum(weight * (effect - fixed) ** 2 for effect, weight in zip(effects, weights, strict=True))
    scale = sum(weights) - sum(weight * weight for weight in weights) / sum(weights)
    between = max(0.0, (spread - (len(effects) - 1)) / scale) if scale > 0 else 0.0
    mean = _weighted(effects, [1 / (variance + between) for variance in variances])
    return Shrunken(
        mean,
        between,
        tuple(
            mean + between / (between + variance) * (effect - mean)
            for effect, variance in zip(effects, variances, strict=True)
        ),
    )


def _weighted(effects: Sequence[float], weights: Sequence[float]) -> float:
    return sum(weight * effect for effect, weight in zip(effects, weights, strict=True)) / sum(weights)
