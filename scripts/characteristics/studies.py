"""Simulated studies: cases in random order, some of them in documents that fail together, seen at regular looks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

Array: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]
CHUNK = 100
"""Studies held in memory at a time."""


@dataclass(frozen=True)
class Design:
    """What is true, and how it is looked at."""

    flip_rate: float
    difference: float = 0.0
    """True difference of the pass rates, candidate minus baseline."""
    cluster: int = 1
    """Cases a document."""
    copy: float = 0.0
    """Chance that a case shares the fate of its document; else it is drawn by itself."""
    mixed: bool = False
    """Cases of all documents are shuffled; else the documents are, and each comes whole."""
    cases: int = 1600
    every: int = 10
    """Cases between two looks."""


@dataclass(frozen=True)
class Looks:
    """What was seen, [studies, looks]."""

    n: Array
    losses: Array
    gains: Array
    states: Array
    """How many documents have so many cases seen and such a net, [studies, looks, seen - 1, net + cluster]."""


def outcomes(design: Design, studies: int, chance: np.random.Generator) -> Array:
    """Return what befell each case, [studies, documents, cases a document]: -1 a loss, 1 a gain, 0 neither."""
    shape = (studies, design.cases // design.cluster, design.cluster)
    own, shared = chance.random(shape), chance.random((*shape[:2], 1))
    draw = np.where(chance.random(shape) < design.copy, shared, own)
    loss = (design.flip_rate - design.difference) / 2
    return np.where(draw < loss, -1.0, np.where(draw < design.flip_rate, 1.0, 0.0))


def simulate(design: Design, studies: int, seed: int) -> Iterator[Looks]:
    """Yield the studies, some at a time."""
    chance = np.random.default_rng(seed)
    for start in range(0, studies, CHUNK):
        yield _watch(design, min(CHUNK, studies - start), chance)


def _watch(design: Design, studies: int, chance: np.random.Generator) -> Looks:
    befell = outcomes(design, studies, chance)
    looks, width = -(-design.cases // design.every), 2 * design.cluster + 1
    look = np.arange(studies).reshape(-1, 1, 1) * looks + _places(design, studies, chance) // design.every
    net = np.cumsum(befell, axis=2).astype(int) + design.cluster
    state = np.arange(design.cluster) * width + net

    def seen(at: np.ndarray[Any, Any], size: int) -> Array:
        return np.bincount(at.ravel(), minlength=studies * looks * size).reshape(studies, looks, size).cumsum(axis=1)

    # Each case takes its document out of the state that the case before had put it in.
    size = design.cluster * width
    came = seen(look * size + state, size)
    left = seen(look[:, :, 1:] * size + state[:, :, :-1], size)
    return Looks(
        n=seen(look, 1)[:, :, 0],
        losses=seen(look[befell < 0], 1)[:, :, 0],
        gains=seen(look[befell > 0], 1)[:, :, 0],
        states=(came - left).reshape(studies, looks, design.cluster, width),
    )


def _places(design: Design, studies: int, chance: np.random.Generator) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Return where each case stands in the order of its study, ascending within a document."""
    order = np.arange(design.cases).reshape(1, -1, design.cluster).repeat(studies, axis=0)
    if design.mixed:
        # Cases of a document are alike, so whichever comes first may be called its first.
        order = np.sort(chance.permuted(order.reshape(studies, -1), axis=1).reshape(order.shape), axis=2)
    return order


def clusters_at(looks: Looks, study: int, look: int) -> tuple[list[int], list[int]]:
    """Return sizes and nets of the documents seen so far, as `qeval.compare` takes them."""
    states = looks.states[study, look].astype(int)
    sizes: list[int] = []
    nets: list[int] = []
    for row, column in np.argwhere(states).tolist():
        times = int(states[row, column])
        sizes += [row + 1] * times
        nets += [column - states.shape[0]] * times
    return sizes, nets
