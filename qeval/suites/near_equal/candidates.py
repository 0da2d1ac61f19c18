"""Which of many prompts are worth comparing word by word: those whose words overlap, by MinHash."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datasketch import MinHash

Turns = tuple[tuple[str, ...], ...]
"""The words of each turn."""
_PERMUTATIONS, _SEED = 128, 1
_OVERLAP = 0.3
"""Jaccard index, of single words and pairs of neighbours, around which MinHash begins to find pairs. Near-equal prompts
of the measured templates (docs/method.md) overlap by more than 0.4, and an index finds half of what lies at its
threshold."""
_NEAREST = 20
"""Neighbours of a prompt that are looked at. Prompts from one template are nearer than others that share a frame."""


def near_pairs(prompts: Sequence[Turns]) -> Iterator[tuple[int, int]]:
    """Yield pairs of positions, the earlier first, of prompts that likely overlap."""
    if len(prompts) < 2:
        return
    import numpy as np
    from datasketch import MinHashLSH

    index = MinHashLSH(threshold=_OVERLAP, num_perm=_PERMUTATIONS)
    made: dict[tuple[str, ...], MinHash] = {}
    sketches = [_sketch(turns, made) for turns in prompts]
    digests = np.array([sketch.hashvalues for sketch in sketches])
    for place, sketch in enumerate(sketches):
        found = np.sort(np.array(index.query(sketch), dtype=int))
        if len(found) > _NEAREST:
            alike = (digests[found] == digests[place]).sum(axis=1)
            found = found[np.argsort(-alike, kind="stable")[:_NEAREST]]
        yield from ((int(other), place) for other in found)
        index.insert(place, sketch)


def _sketch(turns: Turns, made: dict[tuple[str, ...], MinHash]) -> MinHash:
    """Return the sketch of all turns together; questions about one document share the sketch of the document."""
    from datasketch import MinHash

    for words in turns:
        if words not in made:
            made[words] = MinHash(num_perm=_PERMUTATIONS, seed=_SEED)
            made[words].update_batch([piece.encode("utf-8", errors="surrogatepass") for piece in _pieces(words)])
    return MinHash.union(*(made[words] for words in turns)) if len(turns) > 1 else made[turns[0]]


def _pieces(words: tuple[str, ...]) -> set[str]:
    return {*words, *(f"{one} {other}" for one, other in pairwise(words))}
