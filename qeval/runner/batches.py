"""Which cases run together: the same batches for every variant, planned from prompt lengths alone.

Batch composition can change the result of a case (in bf16 it does so often), so the plan is a pure function of
lengths, limits and the seed, its digest is in the record, and a batch is the unit that is redone after a crash.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Sequence
from typing import NamedTuple

from qeval.engines.base import Prompt
from qeval.jsonl import dumps

LEAST_LIKENESS = 0.5
"""A prompt shorter than this share of a batch's longest starts a batch of its own: padding costs as tokens do."""


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


def plan_batches(prompts: Sequence[Prompt], batch_size: int, batch_tokens: int) -> list[Batch]:
    """Pack prompts of one suite and of like length together, longest first, for the first pass (repeat 0).

    Longest first, so that what will not fit in memory shows early, and time left is not underestimated.
    """
    longest: dict[tuple[str, str], int] = {}
    for prompt in prompts:
        group = _document(prompt)
        longest[group] = max(longest.get(group, 0), _tokens(prompt))
    # Questions about one document stay together, since they share its prefill; so do the cases of a suite, whose
    # answers are of like length.
    ordered = sorted(
        prompts,
        key=lambda prompt: (
            prompt.suite,
            -longest[_document(prompt)],
            _document(prompt),
            -_tokens(prompt),
            prompt.case.id,
        ),
    )
    return _pack(ordered, 0, batch_size, batch_tokens)


def plan_self_check(
    prompts: Sequence[Prompt], share: float, batch_size: int, batch_tokens: int, seed: int
) -> list[Batch]:
    """Choose a seeded share of each suite and batch it otherwise: other neighbours, other padding, other size.

    Returns:
        The batches of repeat 1; empty where `share` is 0.
    """
    chosen: list[Prompt] = []
    generator = random.Random(seed)
    for suite in sorted({prompt.suite for prompt in prompts}):
        mine = sorted((prompt for prompt in prompts if prompt.suite == suite), key=lambda prompt: prompt.case.id)
        chosen += generator.sample(mine, round(share * len(mine)))
    # Neighbours by id rather than by length, in batches of another size.
    ordered = sorted(
        chosen, key=lambda prompt: (_tokens(prompt) // 256, hashlib.sha256(prompt.case.id.encode()).digest())
    )
    return _pack(ordered, 1, max(1, batch_size * 3 // 4), batch_tokens)


def batches_digest(batches: Sequence[Batch]) -> str:
    """sha256 over repeat and case ids of every batch in order."""
    plan = [[batch.repeat, [list(key) for key in batch.keys]] for batch in batches]
    return hashlib.sha256(dumps(plan).encode()).hexdigest()


def _document(prompt: Prompt) -> tuple[str, str]:
    return prompt.suite, prompt.case.cluster or prompt.case.id


def _tokens(prompt: Prompt) -> int:
    return len(prompt.token_ids) + prompt.case.max_new_tokens


def _pack(ordered: Sequence[Prompt], repeat: int, batch_size: int, batch_tokens: int) -> list[Batch]:
    groups: list[list[Prompt]] = []
    for prompt in ordered:
        group = groups[-1] if groups else []
        longest = max(_tokens(other) for other in [*group, prompt])
        fits = len(group) < batch_size and longest * (len(group) + 1) <= batch_tokens
        if group and fits and _alike(group[0], prompt, longest, repeat):
            group.append(prompt)
        else:
            groups.append([prompt])
    return [Batch(repeat, index, tuple(group)) for index, group in enumerate(groups)]


def _alike(first: Prompt, prompt: Prompt, longest: int, repeat: int) -> bool:
    # The self-check mixes suites on purpose.
    return _tokens(prompt) >= LEAST_LIKENESS * longest and (repeat > 0 or first.suite == prompt.suite)
