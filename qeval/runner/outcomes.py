"""A batch in, graded outcomes out: what does not fit is not shown, and a stop text ends an answer in every engine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from qeval.engines.base import Engine, Generation, Prompt, Reading
from qeval.fidelity.reference import Key
from qeval.outcome import Outcome
from qeval.runner.apart import Apart
from qeval.runner.batches import Batch
from qeval.runner.fitting import answer_fitting
from qeval.runner.prompts import is_too_long
from qeval.runner.replaying import BatchReplay
from qeval.runner.scoring import BatchScoring
from qeval.runner.task import Said, Step
from qeval.suites.answers import grade_case
from qeval.suites.stops import find_stop


class Beside(NamedTuple):
    """What is done to a batch beside answering it."""

    apart: Apart
    scoring: BatchScoring
    replay: BatchReplay


class BatchAnswers(NamedTuple):
    """What a batch gave."""

    outcomes: list[Outcome]
    parts: int
    """In how many parts it was answered; more than one where it did not fit in memory."""


def answer_batch(engine: Engine, batch: Batch, beside: Beside, say: Callable[[Said], None]) -> BatchAnswers:
    """Answer and grade a batch; cases that cannot fit are not shown to the engine."""
    if is_too_long(engine, batch.prompts[0]):
        return BatchAnswers([_outcome(prompt, _refused(engine, prompt), batch) for prompt in batch.prompts], 1)
    parts = 0
    seen: set[Key] = set()

    def on_step(tokens: int) -> None:
        say(Step(tokens))

    def on_read(prompts: Sequence[Prompt], reading: Reading) -> list[Generation] | None:
        nonlocal parts
        parts += 1
        keys = {(prompt.suite, prompt.case.id) for prompt in prompts}
        if keys <= seen:
            return None
        seen.update(keys)
        beside.scoring.on_read(prompts, reading)
        return beside.replay.on_read(prompts, reading, on_step)

    generations = answer_fitting(engine, batch.prompts, on_step, on_read)
    beside.replay.on_answered(generations, parts)
    beside.scoring.on_answered(generations)
    rows = zip(batch.prompts, generations, strict=True)
    graded = [_outcome(prompt, generation, batch) for prompt, generation in rows]
    return BatchAnswers(graded, parts)


def _refused(engine: Engine, prompt: Prompt) -> Generation:
    return Generation(
        status="over_context",
        detail=(
            f"{len(prompt.token_ids)} prompt tokens and up to {prompt.case.max_new_tokens} of answer "
            f"do not fit in a context of {engine.context_tokens}"
        ),
    )


def _outcome(prompt: Prompt, generation: Generation, batch: Batch) -> Outcome:
    generation = _cut_at_stop(generation, prompt.case.stop)
    outcome = Outcome(
        suite=prompt.suite,
        case=prompt.case.id,
        repeat=batch.repeat,
        batch=batch.number,
        status=generation.status,
        detail=generation.detail or _cut_said(prompt),
        failure=generation.failure,
        text=generation.text,
        token_ids=generation.token_ids,
        tool_calls=generation.tool_calls,
        finish=generation.finish,
        prompt_tokens=len(prompt.token_ids),
        prompt_hash=prompt.digest,
    )
    return grade_case(outcome, prompt.case)


def _cut_said(prompt: Prompt) -> str:
    return f"{prompt.cut_tokens} tokens were cut from the middle of the prompt" if prompt.cut_tokens else ""


def _cut_at_stop(generation: Generation, stops: Sequence[str]) -> Generation:
    """End an answer before its first stop text, alike for every engine and wherever the borders of tokens lie."""
    place = find_stop(generation.text, stops)
    if place is None:
        return generation
    text = generation.text[: place.start]
    return generation._replace(text=text, finish="stop", failure=None if text.strip() else "empty")
