"""Prefixes that prompts share, as a tree: each node is read once, however many prompts run through it.

A system text, a list of tools, a document with several questions: prompts of one tenant that begin with the same
tokens share them. Prompts of two tenants never share, whatever their tokens.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple

LEAST_SAVED = 64
"""A shared part becomes a node of its own where it saves this many tokens: every node costs a pass and a copy."""

Tokens = tuple[int, ...]


class Node(NamedTuple):
    """Tokens that follow those of the parent."""

    parent: int | None
    """Index of the node before; None where a prompt begins."""
    tokens: Tokens
    depth: int
    """How many nodes come before."""


class PrefixTree(NamedTuple):
    """Nodes, parents before their children, and where each row ends."""

    nodes: list[Node]
    leaves: list[int | None]
    """For each row the node it ends with; None for a row without tokens."""

    def path(self, node: int | None) -> list[int]:
        """Return the nodes from the first to this one."""
        found: list[int] = []
        while node is not None:
            found.append(node)
            node = self.nodes[node].parent
        return found[::-1]


def prefix_tree(rows: Sequence[Tokens], tenants: Sequence[str | None]) -> PrefixTree:
    """Build the tree of rows of token ids, one tenant a row.

    >>> tree = prefix_tree([(7,) * 80 + (1,), (7,) * 80 + (2, 3)], [None, None])
    >>> [(node.parent, len(node.tokens)) for node in tree.nodes], tree.leaves
    ([(None, 80), (0, 1), (0, 2)], [1, 2])
    """
    tree = PrefixTree([], [None] * len(rows))

    def grow(members: list[int], start: int, parent: int | None) -> None:
        """Add the tokens from `start` on of rows, in sorted order, which share all that comes before."""
        first, last = rows[members[0]], rows[members[-1]]
        end = _shared(first, last)
        if first == last or (len(members) - 1) * (end - start) >= LEAST_SAVED:
            if end > start:
                depth = 0 if parent is None else tree.nodes[parent].depth + 1
                tree.nodes.append(Node(parent, first[start:end], depth))
                parent = len(tree.nodes) - 1
            start = end
        for rest, group in groupby(members, key=lambda row: rows[row][end : end + 1]):
            if rest or start < end:
                grow(list(group), start, parent)
            else:
                for row in group:
                    tree.leaves[row] = parent

    order = sorted(range(len(rows)), key=lambda row: (tenants[row] is not None, tenants[row] or "", rows[row]))
    for _, group in groupby(order, key=lambda row: tenants[row]):
        grow(list(group), 0, None)
    return tree


def _shared(first: Tokens, last: Tokens) -> int:
    """Return how many tokens two rows share at their beginning."""
    length = 0
    for one, other in zip(first, last, strict=False):
        if one != other:
            break
        length += 1
    return length
