"""In which order a run answers its cases, and after what it may be ended.

Where a run may end early its cases come in random order: in waves, each a random share of every suite's clusters.
Inside a wave they are batched for speed, so waves grow: the first two have 160 cases, each further one as many as all
before it. The cases that run again are chosen from the first wave, which is larger where they need it, and follow it,
so that the noise floor is known before anything is decided.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from qeval.engines.base import Prompt
from qeval.runner.batches import Batch, Limits, choose_again, document_of, plan_batches, plan_repeat

WAVE_CASES = 160
"""Cases of the first wave: enough to fill batches of like length, few enough to end a hopeless run soon."""


class Lap(NamedTuple):
    """Batches between two looks at the results."""

    batches: tuple[Batch, ...]


class Sizes(NamedTuple):
    """What a run is cut by."""

    limits: Limits
    again: Mapping[str, int]
    """Cases of each suite that run again."""
    repeats: int
    """How often they run again."""
    in_waves: bool
    seed: int
    samples: int = 1
    """Answers drawn to each case, in the same batches; greedy decoding gives one."""


def plan_laps(prompts: Sequence[Prompt], fits: Callable[[Prompt], bool], sizes: Sizes) -> list[Lap]:
    """Plan all batches of a run; the same for every variant.

    Args:
        prompts: all of them.
        fits: whether a prompt can be answered; those of a wave that cannot are a batch that is only written down.
        sizes: what the run is cut by.
    """
    found: list[Lap] = []
    first = 0
    waves = _growing(_shares(prompts, sizes.seed), sizes.again) if sizes.in_waves else [list(prompts)]
    for number, wave in enumerate(waves):
        fitting = [prompt for prompt in wave if fits(prompt)]
        planned = plan_batches(fitting, sizes.limits, first=first)
        if number == 0:
            planned = _largest_first(planned)
        if len(fitting) < len(wave):
            planned.append(Batch(0, first + len(planned), tuple(prompt for prompt in wave if not fits(prompt))))
        first += len(planned)
        batches = [batch._replace(repeat=sample) for sample in range(sizes.samples) for batch in planned]
        if number == 0:
            again = choose_again(fitting, sizes.again, sizes.seed)
            for repeat in range(1, sizes.repeats + 1):
                batches += plan_repeat(again, repeat, sizes.limits)
        found.append(Lap(tuple(batches)))
    return found


def _largest_first(batches: list[Batch]) -> list[Batch]:
    """Put the batch with most to decode first: it is the pilot of replay."""
    largest = max(batches, key=_to_decode, default=None)
    ordered = sorted(batches, key=lambda batch: batch is not largest)
    return [batch._replace(number=number) for number, batch in enumerate(ordered)]


def _to_decode(batch: Batch) -> int:
    return len(batch.prompts) * max(prompt.case.max_new_tokens for prompt in batch.prompts)


def _growing(shares: list[list[Prompt]], again: Mapping[str, int]) -> list[list[Prompt]]:
    """Join shares into waves: as many as hold the cases that run again, then as many as before each time."""
    waves: list[list[Prompt]] = []
    done = 0
    while done < len(shares):
        size = done or _enough(shares, again)
        waves.append([prompt for share in shares[done : done + size] for prompt in share])
        done += size
    return waves


def _enough(shares: list[list[Prompt]], again: Mapping[str, int]) -> int:
    """Return how many shares hold so many cases of each suite; one at least, all where they have no more."""
    held: Counter[str] = Counter()
    for number, share in enumerate(shares, 1):
        held.update(prompt.suite for prompt in share)
        if all(held[suite] >= cases for suite, cases in again.items()):
            return number
    return len(shares)


def _shares(prompts: Sequence[Prompt], seed: int) -> list[list[Prompt]]:
    """Deal the clusters of every suite out over equal shares, in random order, the cases of a cluster together."""
    count = max(1, round(len(prompts) / WAVE_CASES))
    shares: list[list[Prompt]] = [[] for _ in range(count)]
    generator = random.Random(seed)
    for suite in sorted({prompt.suite for prompt in prompts}):
        clusters: dict[tuple[str, str], list[Prompt]] = {}
        mine = sorted((prompt for prompt in prompts if prompt.suite == suite), key=lambda prompt: prompt.case.id)
        for prompt in mine:
            clusters.setdefault(document_of(prompt), []).append(prompt)
        order = sorted(clusters)
        generator.shuffle(order)
        dealt = 0
        for name in order:
            shares[dealt * count // len(mine)] += clusters[name]
            dealt += len(clusters[name])
    return [share for share in shares if share]
