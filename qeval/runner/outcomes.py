"""A batch in, graded outcomes out: what does not fit is not shown, and a stop text ends an answer in every engine."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from qeval.engines.base import Engine, Generation, Prompt
from qeval.outcome import Outcome
from qeval.runner.batches import Batch
from qeval.runner.prompts import is_too_long
from qeval.runner.scoring import BatchScoring
from qeval.runner.task import Said, Step
from qeval.suites.answers import grade_case
from qeval.suites.stops import find_stop


def answer_batch(engine: Engine, batch: Batch, scoring: BatchScoring, say: Callable[[Said], None]) -> list[Outcome]:
    """Answer and grade a batch; cases that cannot fit are not shown to the engine."""
    if is_too_long(engine, batch.prompts[0]):
        return [_outcome(prompt, _refused(engine, prompt), batch) for prompt in batch.prompts]
    generations = engine.answer(batch.prompts, lambda tokens: say(Step(tokens)), scoring.on_read)
    scoring.on_answered(generations)
    return [_outcome(prompt, generation, batch) for prompt, generation in zip(batch.prompts, generations, strict=True)]


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
