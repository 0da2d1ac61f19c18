"""Which cases run together: the same batches for every variant, planned before any is answered.

Batch composition can change the result of a case (in bf16 it does so often), so the plan is a pure function of
lengths, limits, ids and the seed, its digest is in the record, and a batch is the unit that is redone after a crash.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from qeval.engines.base import Prompt
from qeval.engines.cuts import cheapest_cuts
from qeval.engines.work import Work
from qeval.jsonl import dumps


class Limits(NamedTuple):
    """What batches are cut by."""

    batch_size: int
    """Prompts that run together, at most."""
    batch_tokens: int
    """Tokens of a batch at most, padding and answers included; one prompt always runs."""
    work: Work
    """What decoding costs on the device."""


class Batch(NamedTuple):
    """Prompts that run together."""

    repeat: int
    number: int
    """Place of the batch in its repeat."""
    prompts: tuple[Prompt, ...]

    @property
    def keys(self) -> tuple[tuple[str, str], ...]:
        """(suite, case id) of each prompt, in order."""
        return tuple((prompt.suite, prompt.case.id) for prompt in self.prompts)


def plan_batches(prompts: Sequence[Prompt], limits: Limits, *, first: int = 0) -> list[Batch]:
    """Pack prompts of like limit and length together for the first pass (repeat 0), longest answers first.

    Questions about one document stand side by side, since they share its prefill where they share a batch.

    Args:
        prompts: in any order.
        limits: what a batch is cut by.
        first: number of the first batch.
    """
    limit: dict[tuple[str, str], int] = {}
    length: dict[tuple[str, str], int] = {}
    for prompt in prompts:
        document = document_of(prompt)
        limit[document] = max(limit.get(document, 0), prompt.case.max_new_tokens)
        length[document] = max(length.get(document, 0), _tokens(prompt))

    def place(prompt: Prompt) -> tuple[int, int, tuple[str, str], int, str]:
        document = document_of(prompt)
        return -limit[document], -length[document], document, -_tokens(prompt), prompt.case.id

    parts = _pack(sorted(prompts, key=place), limits)
    return [Batch(0, number, part) for number, part in enumerate(parts, first)]


def plan_repeat(prompts: Sequence[Prompt], repeat: int, limits: Limits) -> list[Batch]:
    """Batch prompts otherwise than the first pass does: other neighbours, another order, another size and padding."""
    # Neighbours by a hash rather than by length.
    ordered = sorted(prompts, key=lambda prompt: (-prompt.case.max_new_tokens, _hash(f"{repeat}/{prompt.case.id}")))
    quarters = (3, 2, 1)[(repeat - 1) % 3]
    parts = _pack(ordered, limits._replace(batch_size=max(1, limits.batch_size * quarters // 4)))
    return [Batch(repeat, number, part) for number, part in enumerate(parts)]


def choose_again(prompts: Sequence[Prompt], cases: Mapping[str, int], seed: int) -> list[Prompt]:
    """Choose the cases that run again: of each suite so many, by a seed, all where it has no more.

    Args:
        prompts: what to choose from.
        cases: how many of each suite.
        seed: of the choice.
    """
    generator = random.Random(seed)
    chosen: list[Prompt] = []
    for suite in sorted({prompt.suite for prompt in prompts}):
        mine = sorted((prompt for prompt in prompts if prompt.suite == suite), key=lambda prompt: prompt.case.id)
        chosen += generator.sample(mine, min(cases.get(suite, 0), len(mine)))
    return chosen


def batches_digest(batches: Sequence[Batch]) -> str:
    """sha256 over repeat and case ids of every batch in order."""
    plan = [[batch.repeat, [list(key) for key in batch.keys]] for batch in batches]
    return hashlib.sha256(dumps(plan).encode()).hexdigest()


def document_of(prompt: Prompt) -> tuple[str, str]:
    """Return what a case shares with others of its suite: its cluster."""
    return prompt.suite, prompt.case.cluster or prompt.case.id


def _hash(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()


def _tokens(prompt: Prompt) -> int:
    return len(prompt.token_ids) + prompt.case.max_new_tokens


def _pack(ordered: Sequence[Prompt], limits: Limits) -> list[tuple[Prompt, ...]]:
    """Cut the ordered prompts into batches at the least cost of decoding, within the limits."""
    steps = [prompt.case.max_new_tokens for prompt in ordered]
    lengths = [_tokens(prompt) for prompt in ordered]

    def cost(start: int, end: int) -> float | None:
        rows, longest = end - start, max(lengths[start:end])
        if rows > 1 and (rows > limits.batch_size or rows * longest > limits.batch_tokens):
            return None
        return limits.work.decode(max(steps[start:end]), rows, longest)

    return [tuple(ordered[start:end]) for start, end in cheapest_cuts(len(ordered), cost)]
