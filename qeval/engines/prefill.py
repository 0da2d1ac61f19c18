"""Read prompts into a cache: shared prefixes once, in chunks of like length, nothing but real tokens kept.

Padding costs as much as tokens do, so prompts are read in small chunks of like length whatever batch they are
answered in, and keys and values of padding are dropped at once. For models whose layers all keep the whole context.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

from qeval.engines.cuts import cheapest_cuts
from qeval.engines.prefix_tree import PrefixTree, Tokens, prefix_tree
from qeval.engines.work import Work, work_on

if TYPE_CHECKING:
    import torch

States = list["tuple[torch.Tensor, torch.Tensor]"]
"""Keys and values of one node for each layer, each of shape (heads, tokens, width of a head)."""


class Prefill:
    """Reads rows of token ids with one model."""

    def __init__(self, model: Any, pad_id: int, device: str) -> None:  # noqa: ANN401 - transformers is untyped
        """Prepare to read with a model; `pad_id` fills rows and is masked."""
        self._model = model
        self._pad_id = pad_id
        self._device = device
        self._work = work_on(device)
        self.shares = True
        """Whether prefixes are read once for all rows of a tenant that share them."""

    def read(self, rows: Sequence[Tokens], tenants: Sequence[str | None], room: int) -> Any:  # noqa: ANN401
        """Read rows, which share prefixes within a tenant.

        Returns:
            A cache with one row for each, padded on the left to the longest, with room for so many more tokens; None
            where no row has a token.
        """
        from transformers import StaticCache

        tree = prefix_tree(rows, tenants if self.shares else [str(row) for row in range(len(rows))])
        states: list[States | None] = [None] * len(tree.nodes)
        for chunk in _chunks(tree, self._work):
            for node, found in zip(chunk, self._pass(tree, states, chunk), strict=True):
                states[node] = found
        # With its room set aside at once; a cache that grows is copied whole at every step.
        length = max(map(len, rows)) + room
        cache = StaticCache(config=self._model.config, max_cache_len=length)
        return self._filled(cache, states, [tree.path(leaf) for leaf in tree.leaves])

    def pad(self, rows: Sequence[Tokens]) -> tuple[Any, Any]:
        """Return ids and mask, shape (rows, longest), padded on the left, on the device."""
        import torch

        longest = max(map(len, rows))
        # The type is given, since torch takes rows without tokens for floats.
        ids = torch.tensor([[self._pad_id] * (longest - len(row)) + list(row) for row in rows], dtype=torch.long)
        mask = torch.tensor([[0] * (longest - len(row)) + [1] * len(row) for row in rows], dtype=torch.long)
        return ids.to(self._device), mask.to(self._device)

    def _pass(self, tree: PrefixTree, states: list[States | None], chunk: list[int]) -> list[States]:
        """Read a chunk of nodes after their parents; return each node's own keys and values."""
        import torch
        from transformers import DynamicCache

        paths = [tree.path(tree.nodes[node].parent) for node in chunk]
        before = [sum(len(tree.nodes[node].tokens) for node in path) for path in paths]
        ids, mask = self.pad([tree.nodes[node].tokens for node in chunk])
        positions = mask.cumsum(dim=1) - 1 + torch.tensor(before, device=mask.device).unsqueeze(1)
        cache = DynamicCache(config=self._model.config)
        self._filled(cache, states, paths)
        # The parents are padded on the left too, so that a row's mask may have a hole between them and the node.
        _, mask_before = self.pad([(self._pad_id,) * length for length in before])
        with torch.no_grad():
            # Without the output head, which only an answer needs.
            self._model.base_model(
                input_ids=ids,
                attention_mask=torch.cat([mask_before, mask], dim=1),
                position_ids=positions.clamp(min=0),
                cache=cache,
                use_cache=True,
            )
        lengths = [len(tree.nodes[node].tokens) for node in chunk]
        # Cloned, since a view would keep the whole chunk in memory.
        return [
            [(layer.keys[row, :, -n:].clone(), layer.values[row, :, -n:].clone()) for layer in cache.layers]
            for row, n in enumerate(lengths)
        ]

    def _filled(self, cache: Any, states: list[States | None], paths: list[list[int]]) -> Any:  # noqa: ANN401
        """Fill an empty cache with rows that are the nodes of each path in turn; None where all paths are empty."""
        parts = [[found for node in path if (found := states[node]) is not None] for path in paths]
        some = next((row[0] for row in parts if row), None)
        if some is None:
            return None
        for index, (keys, values) in enumerate(some):
            cache.update(
                _stack([[part[index][0] for part in row] for row in parts], keys),
                _stack([[part[index][1] for part in row] for row in parts], values),
                index,
            )
        return cache


def _stack(rows: list[list[torch.Tensor]], like: torch.Tensor) -> torch.Tensor:
    """Join the parts of each row, each (heads, tokens, width); return (rows, heads, longest, width), zeros before."""
    lengths = [sum(part.shape[1] for part in row) for row in rows]
    heads, _, width = like.shape
    joined = like.new_zeros(len(rows), heads, max(lengths), width)
    for row, parts in enumerate(rows):
        end = max(lengths) - lengths[row]
        for part in parts:
            start, end = end, end + part.shape[1]
            joined[row, :, start:end] = part
    return joined


def _chunks(tree: PrefixTree, work: Work) -> Iterator[list[int]]:
    """Yield nodes to be read in one pass, parents before children, of like length."""
    order = sorted(range(len(tree.nodes)), key=lambda node: (tree.nodes[node].depth, -len(tree.nodes[node].tokens)))
    for _, nodes in groupby(order, key=lambda node: tree.nodes[node].depth):
        level = list(nodes)
        lengths = [len(tree.nodes[node].tokens) for node in level]

        def cost(start: int, end: int, lengths: list[int] = lengths) -> float | None:
            rows, longest = end - start, lengths[start]
            return None if rows > 1 and rows * longest > work.chunk_tokens else work.read(rows, longest)

        for start, end in cheapest_cuts(len(level), cost):
            yield level[start:end]
