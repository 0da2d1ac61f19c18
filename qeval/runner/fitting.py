"""Batches that do not fit in memory are answered in parts rather than not at all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from qeval.engines.base import Engine, Generation, OnStep, Prompt, Reading
from qeval.runner.environment import available_memory_bytes, total_memory_bytes

_USABLE = 0.8
"""Share of the machine's memory which a batch's cache may take."""

OnPart = Callable[[Sequence[Prompt], Reading], "list[Generation] | None"]
"""As `OnRead`, told which prompts were read; it may be told of a prompt again when its batch did not fit."""


def answer_fitting(
    engine: Engine, prompts: Sequence[Prompt], on_step: OnStep, on_read: OnPart | None = None
) -> list[Generation]:
    """Answer prompts, in halves, and halves of these, where they do not fit together.

    On an accelerator that shows when memory runs out; on a CPU the system would end the process, so the cache's size is
    looked at before: against the memory of the machine, which is the same in every run, and against what is free, so
    that a run beside other work ends in more parts rather than not at all. A prompt that does not fit alone has its
    class, `out_of_memory`.
    """
    if len(prompts) > 1 and not _fits(engine, prompts):
        return _in_halves(engine, prompts, on_step, on_read)
    generations = engine.answer(prompts, on_step, partial(on_read, prompts) if on_read else None)
    if len(prompts) > 1 and all(one.status == "out_of_memory" for one in generations):
        return _in_halves(engine, prompts, on_step, on_read)
    return generations


def _in_halves(engine: Engine, prompts: Sequence[Prompt], on_step: OnStep, on_read: OnPart | None) -> list[Generation]:
    middle = len(prompts) // 2
    return [
        generation
        for part in (prompts[:middle], prompts[middle:])
        for generation in answer_fitting(engine, part, on_step, on_read)
    ]


def _fits(engine: Engine, prompts: Sequence[Prompt]) -> bool:
    needed, whole, free = engine.cache_bytes(prompts), total_memory_bytes(), available_memory_bytes()
    if needed is None:
        return True
    return (whole is None or needed <= _USABLE * whole) and (free is None or needed <= free)
