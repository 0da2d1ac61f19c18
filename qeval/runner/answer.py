"""One variant from loading to a complete record: load, prove, answer, grade, append."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import NamedTuple

from qeval.engines.base import Engine, Generation, Prompt
from qeval.engines.batch_mates import batch_mates_notes
from qeval.engines.sampling import seed_batch
from qeval.errors import UsageError
from qeval.evidence import ModelInfo, Proof
from qeval.jsonl import append_lines
from qeval.outcome import Outcome
from qeval.record import (
    OUTCOMES_FILE,
    RECORD_FILE,
    Measurements,
    Reason,
    RecordHeader,
    Stopping,
    SuiteInfo,
    load_header,
    save_cases,
    save_header,
)
from qeval.runner.batches import Batch, batches_digest
from qeval.runner.case_info import case_info
from qeval.runner.decoding import recorded_decoding
from qeval.runner.environment import (
    device_peak_memory_bytes,
    peak_memory_bytes,
    read_environment,
    resident_memory_bytes,
)
from qeval.runner.laps import Lap, Sizes, plan_laps
from qeval.runner.resume import Kept, check_same_identity, keep_whole_batches
from qeval.runner.shorten import shorten
from qeval.runner.task import Advanced, Planned, Said, Stage, Step, Task
from qeval.suites.answers import grade_case
from qeval.suites.case import Case
from qeval.suites.stops import find_stop

Say = Callable[[Said], None]
Ask = Callable[[], Reason | None]
"""Asks whether what is stored so far ends the run."""
Clock = Callable[[], float]


class Loaded(NamedTuple):
    """A variant ready to answer, with what proves which one it is."""

    engine: Engine
    model: ModelInfo
    proof: Proof | None = None
    notes: tuple[str, ...] = ()


def run_task(task: Task, say: Say, ask: Ask, clock: Clock) -> None:
    """Load the variant, answer what is missing until something ends the run, and complete the record."""
    say(Stage("loading"))
    started = clock()
    loaded = _load(task)
    engine = loaded.engine
    measured = Measurements(
        started_at=datetime.now(UTC).isoformat(timespec="seconds"),
        load_s=clock() - started,
        memory_after_load_bytes=resident_memory_bytes(),
    )
    moved = engine.batch_mates(task.seed)
    say(Stage("reading cases"))
    prompts = [_prompt(engine, suite.name, case) for suite in task.suites for case in suite.cases]
    laps = _plan(task, engine, prompts)
    batches = [batch for lap in laps for batch in lap.batches]
    stopping = _stopping(task, laps)
    header = _header(task, loaded, batches, stopping, moved)
    kept = _begin(task, header, batches)
    header = header.model_copy(update={"measurements": _continued(kept.measurements, measured)})
    save_header(task.folder, header)
    say(Planned(sum(len(batch.prompts) for batch in batches), kept.answers))
    say(Stage("answering"))
    begun = _last_begun(laps, kept)
    for number, lap in enumerate(laps):
        for batch in lap.batches:
            if (batch.repeat, batch.number) not in kept.batches:
                header = _run_batch(task, engine, batch, header, say, clock)
        # After the last lap everything is there, and the whole is compared. A lap after which a further one was
        # begun did not end the run; what is kept of that one is no random share of it.
        ended = ask() if stopping and begun <= number < len(laps) - 1 else None
        if stopping and ended:
            header = header.model_copy(update={"stopping": stopping.model_copy(update={"ended": ended})})
            say(Stage(f"ended early: {ended}"))
            break
    save_header(task.folder, header.model_copy(update={"state": "complete"}))


def _stopping(task: Task, laps: list[Lap]) -> Stopping | None:
    """Return what may end the run: as its record says where one is taken over, which is asked about again."""
    if task.resume and (task.folder / RECORD_FILE).exists():
        before = load_header(task.folder).stopping
        return before and before.model_copy(update={"ended": None})
    return Stopping(on=task.stop_on) if task.stop_on and len(laps) > 1 else None


def _last_begun(laps: list[Lap], kept: Kept) -> int:
    """Return the place of the last lap of which a resumed record holds anything, 0 where there is none."""
    begun = [n for n, lap in enumerate(laps) if any((b.repeat, b.number) in kept.batches for b in lap.batches)]
    return max(begun, default=0)


def _run_batch(  # noqa: PLR0917 - what a batch needs, handed on
    task: Task, engine: Engine, batch: Batch, header: RecordHeader, say: Say, clock: Clock
) -> RecordHeader:
    """Answer a batch, store what it gave, and return the header with what it took."""
    if task.repeat_threads is not None:
        engine.set_threads(task.repeat_threads if batch.repeat else task.threads)
    if task.temperature:
        seed_batch(task.seed, batch.repeat, batch.number)
    started = clock()
    outcomes = _answer(engine, batch, say)
    append_lines(task.folder / OUTCOMES_FILE, [outcome.model_dump(mode="json") for outcome in outcomes])
    measured = _measured(header.measurements, outcomes, clock() - started)
    header = header.model_copy(update={"measurements": measured})
    save_header(task.folder, header)
    say(Advanced(len(outcomes)))
    return header


def _plan(task: Task, engine: Engine, prompts: list[Prompt]) -> list[Lap]:
    # Samples are repeats already.
    again = {} if task.temperature else task.again
    sizes = Sizes(
        task.batch_size, task.batch_tokens, again, task.repeats, task.in_waves, task.seed, samples=task.samples
    )
    return plan_laps(prompts, lambda prompt: not _too_long(engine, prompt), sizes)


def _begin(task: Task, header: RecordHeader, batches: list[Batch]) -> Kept:
    """Start a fresh record, or take over what an interrupted one holds in whole batches."""
    if task.resume and (task.folder / RECORD_FILE).exists():
        check_same_identity(load_header(task.folder), header)
        return keep_whole_batches(task.folder, batches)
    save_cases(task.folder, tuple(case_info(suite.name, case) for suite in task.suites for case in suite.cases))
    (task.folder / OUTCOMES_FILE).write_bytes(b"")
    return Kept(frozenset(), 0, None)


def _continued(before: Measurements | None, loaded: Measurements) -> Measurements:
    if before is None:
        return loaded
    return before.model_copy(
        update={
            "attempts": before.attempts + 1,
            "load_s": loaded.load_s,
            "memory_after_load_bytes": loaded.memory_after_load_bytes,
        }
    )


def _measured(before: Measurements, outcomes: list[Outcome], seconds: float) -> Measurements:
    run_s = (before.run_s or 0.0) + seconds
    generated = before.generated_tokens + sum(len(outcome.token_ids) for outcome in outcomes)
    return before.model_copy(
        update={
            "run_s": run_s,
            "prompt_tokens": before.prompt_tokens + sum(outcome.prompt_tokens or 0 for outcome in outcomes),
            "generated_tokens": generated,
            "tokens_per_s": generated / run_s if run_s > 0 else None,
            "peak_memory_bytes": max((before.peak_memory_bytes or 0, peak_memory_bytes() or 0)) or None,
            "device_peak_memory_bytes": max((before.device_peak_memory_bytes or 0, device_peak_memory_bytes() or 0))
            or None,
        }
    )


def _answer(engine: Engine, batch: Batch, say: Say) -> list[Outcome]:
    """Answer and grade a batch; cases that cannot fit are not shown to the engine."""
    if _too_long(engine, batch.prompts[0]):
        return [_outcome(prompt, _refused(engine, prompt), batch) for prompt in batch.prompts]
    generations = engine.answer(batch.prompts, lambda tokens: say(Step(tokens)))
    return [_outcome(prompt, generation, batch) for prompt, generation in zip(batch.prompts, generations, strict=True)]


def _prompt(engine: Engine, suite: str, case: Case) -> Prompt:
    prompt = engine.render(suite, case)
    if case.truncate is None or not _too_long(engine, prompt):
        return prompt
    return shorten(prompt, partial(engine.render, suite), lambda shorter: not _too_long(engine, shorter))


def _too_long(engine: Engine, prompt: Prompt) -> bool:
    limit = engine.context_tokens
    return limit is not None and len(prompt.token_ids) + prompt.case.max_new_tokens > limit


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


def _load(task: Task) -> Loaded:
    if task.model is None:
        from qeval.engines.scripted import ScriptedEngine, load_script, script_identity

        if task.script is None:
            raise UsageError("the scripted engine needs a script.")
        scripted = ScriptedEngine(load_script(task.script), task.name)
        return Loaded(scripted, ModelInfo(name="script", fingerprint=script_identity(task.script)))
    import torch

    from qeval.engines.head import compute_head_in_fp32
    from qeval.engines.transformers import TransformersEngine
    from qeval.models.identity import model_info
    from qeval.variants.load import load_variant

    # One line a matrix product: some 200 a token.
    logging.getLogger("bitsandbytes").setLevel(logging.ERROR)
    torch.set_num_threads(task.threads)
    torch.manual_seed(task.seed)
    loaded = load_variant(task.spec, task.model, task.device)
    notes = (*loaded.notes, *(compute_head_in_fp32(loaded.model) if task.head == "fp32" else ()))
    engine = TransformersEngine(loaded.model, loaded.tokenizer, task.device, task.temperature)
    model = model_info(task.model, loaded.tokenizer, engine.context_tokens)
    return Loaded(engine, model, loaded.proof, notes)


def _header(
    task: Task, loaded: Loaded, batches: list[Batch], stopping: Stopping | None, moved: float | None
) -> RecordHeader:
    engine = loaded.engine
    return RecordHeader(
        variant=task.name,
        engine=engine.name,
        format=task.spec.text,
        model=loaded.model,
        suites={
            suite.name: SuiteInfo(version=suite.version, size=suite.size, digest=suite.digest, n_cases=len(suite.cases))
            for suite in task.suites
        },
        decoding=recorded_decoding(task),
        batches=batches_digest(batches),
        level=engine.level,
        rendering=engine.rendering,
        proof=loaded.proof,
        notes=(*loaded.notes, *batch_mates_notes(task.spec, moved)),
        batch_mates=moved,
        environment=read_environment(task.device, task.threads),
        stopping=stopping,
    )
