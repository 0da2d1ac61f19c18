"""Prefixes that prompts of a batch share, so that a document with several questions is read once.

Rows of one group (a document of one tenant) are split where they begin to differ. The prefixes are read as a batch
of their own, the cache's rows are copied to the prompts they belong to, and the rest of each prompt follows. Both
parts are padded on the left, so a row's mask has a hole between them; models whose layers all attend to the whole
context read around it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence
from itertools import takewhile
from typing import NamedTuple

LEAST_SAVING = 0.25
"""Below this share of tokens saved, prompts are read plainly: two passes cost more than one."""


class Split(NamedTuple):
    """Prompts cut into prefixes, each read once, and what follows."""

    prefixes: tuple[tuple[int, ...], ...]
    prefix_of: tuple[int, ...]
    """For each row the index of its prefix."""
    rests: tuple[tuple[int, ...], ...]
    """For each row the tokens after its prefix, one at least."""


def split_prefixes(rows: Sequence[tuple[int, ...]], groups: Sequence[Hashable]) -> Split | None:
    """Cut rows of token ids at the prefix they share with the other rows of their group.

    A row without mates keeps but its last token for the second part.

    Returns:
        None where less than `LEAST_SAVING` of the tokens, padding included, would be saved.

    >>> split_prefixes([(1, 2, 3, 4), (1, 2, 3, 5), (7, 8, 9, 6)], ["a", "a", "b"])
    Split(prefixes=((1, 2, 3), (7, 8, 9)), prefix_of=(0, 0, 1), rests=((4,), (5,), (6,)))
    """
    members: dict[Hashable, list[int]] = defaultdict(list)
    for row, group in enumerate(groups):
        members[group].append(row)
    if len(members) == len(rows) or min(len(row) for row in rows) < 2:
        return None
    prefixes, prefix_of = [], [0] * len(rows)
    for index, mates in enumerate(members.values()):
        # One token must be left over: the answer follows from its logits.
        columns = zip(*(rows[mate] for mate in mates), strict=False)
        shared = sum(1 for _ in takewhile(lambda column: len(set(column)) == 1, columns))
        length = min(shared, *(len(rows[mate]) - 1 for mate in mates))
        prefixes.append(rows[mates[0]][:length])
        for mate in mates:
            prefix_of[mate] = index
    if not all(prefixes):
        return None
    rests = tuple(row[len(prefixes[index]) :] for row, index in zip(rows, prefix_of, strict=True))
    plain = len(rows) * max(len(row) for row in rows)
    shared_cost = len(prefixes) * max(map(len, prefixes)) + len(rows) * max(map(len, rests))
    if shared_cost > (1 - LEAST_SAVING) * plain:
        return None
    return Split(tuple(prefixes), tuple(prefix_of), rests)
