"""One variant from loading to a complete record, batch by batch."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

from qeval.engines.base import Engine, Prompt
from qeval.engines.batch_mates import batch_mates_notes
from qeval.engines.sampling import seed_batch
from qeval.engines.work import work_on
from qeval.errors import VariantFailed
from qeval.fidelity.measure import Measure
from qeval.record import (
    CASES_FILE,
    OUTCOMES_FILE,
    RECORD_FILE,
    SCORED_FILE,
    STATES_FOLDER,
    Measurements,
    Reason,
    RecordHeader,
    Stopping,
    SuiteInfo,
    add_lines,
    load_header,
    save_header,
    save_lines,
    seal,
)
from qeval.runner.apart import Apart
from qeval.runner.batches import Batch, Limits, batches_digest
from qeval.runner.case_info import case_info
from qeval.runner.decoding import recorded_decoding
from qeval.runner.environment import (
    can_forget_peak_memory,
    device_peak_memory_bytes,
    highest,
    peak_memory_bytes,
    read_environment,
    resident_memory_bytes,
)
from qeval.runner.laps import Lap, Sizes, plan_laps
from qeval.runner.loading import Loaded, load
from qeval.runner.outcomes import BatchAnswers, Beside, answer_batch
from qeval.runner.prompts import is_too_long, prompt_of
from qeval.runner.replaying import BatchReplay, Replaying, replaying_for
from qeval.runner.resume import Kept, check_same_identity, keep_whole_batches, put_in_order
from qeval.runner.scoring import BatchScoring
from qeval.runner.task import Advanced, Planned, Said, Stage, Task

Say = Callable[[Said], None]
Ask = Callable[[], Reason | None]
"""Asks whether what is stored so far ends the run."""
Clock = Callable[[], float]


def run_task(task: Task, say: Say, ask: Ask, clock: Clock) -> None:
    """Load the variant, answer what is missing until something ends the run, and complete the record."""
    say(Stage("loading"))
    started = clock()
    loaded = load(task)
    engine = loaded.engine
    measured = Measurements(
        started_at=datetime.now(UTC).isoformat(timespec="seconds"),
        load_s=clock() - started,
        memory_after_load_bytes=resident_memory_bytes(),
    )
    moved = engine.batch_mates(task.seed)
    if moved:
        # A shared prefix would be read with other mates than a prompt read whole.
        engine.read_apart()
    say(Stage("reading cases"))
    prompts = [prompt_of(engine, suite.name, case) for suite in task.suites for case in suite.cases]
    laps = _plan(task, engine, prompts)
    batches = [batch for lap in laps for batch in lap.batches]
    stopping = _stopping(task, laps)
    measure, why_not = _measure(loaded, batches)
    header = _header(task, loaded._replace(notes=(*loaded.notes, *why_not)), batches, stopping, moved)
    kept = _begin(task, header, batches, measures=measure is not None)
    header = header.model_copy(update={"measurements": _continued(kept.measurements, measured), "replay": kept.replay})
    shown = [batch for batch in batches if not is_too_long(engine, batch.prompts[0])]
    replaying = replaying_for(task, header, shown, loaded.unreplayable)
    header = header.model_copy(update={"replay": replaying and replaying.choice})
    save_header(task.folder, header)
    say(Planned(sum(len(batch.prompts) for batch in batches), kept.answers))
    say(Stage("answering"))
    begun = _last_begun(laps, kept)
    for number, lap in enumerate(laps):
        for batch in lap.batches:
            if (batch.repeat, batch.number) not in kept.batches:
                beside = _beside(task, batch, measure, replaying, clock)
                header = _run_batch(task, engine, batch, beside, header, say, clock)
        # After the last lap everything is there, and the whole is compared. A lap after which a further one was
        # begun did not end the run; what is kept of that one is no random share of it.
        ended = ask() if stopping and begun <= number < len(laps) - 1 else None
        if stopping and ended:
            header = header.model_copy(update={"stopping": stopping.model_copy(update={"ended": ended})})
            say(Stage(f"ended early: {ended}"))
            break
    if kept.batches:
        put_in_order(task.folder, batches)
    fidelity = measure.info() if measure else None
    seal(task.folder, header.model_copy(update={"fidelity": fidelity}))


def _beside(task: Task, batch: Batch, measure: Measure | None, replaying: Replaying | None, clock: Clock) -> Beside:
    apart = Apart(clock)
    return Beside(apart, BatchScoring(measure, batch, task.folder, apart), BatchReplay(replaying, batch, apart, clock))


_PEAK_WITH_SCORING = "peak memory holds that of measuring fidelity: this system does not let it be told apart"


def _measure(loaded: Loaded, batches: list[Batch]) -> tuple[Measure | None, tuple[str, ...]]:
    """Return what measures fidelity, and what people should know: why nothing does, or what it costs."""
    if loaded.measuring is None:
        return None, ()
    try:
        measure = loaded.measuring({key for batch in batches if batch.repeat for key in batch.keys})
    except VariantFailed as error:
        return None, (f"fidelity is not measured: {error}",)
    return measure, () if can_forget_peak_memory() else (_PEAK_WITH_SCORING,)


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
    task: Task, engine: Engine, batch: Batch, beside: Beside, header: RecordHeader, say: Say, clock: Clock
) -> RecordHeader:
    """Answer a batch, store what it gave, and return the header with what it took."""
    if task.repeat_threads is not None:
        engine.set_threads(task.repeat_threads if batch.repeat else task.threads)
    if task.temperature:
        seed_batch(task.seed, batch.repeat, batch.number)
    started = clock()
    answers = answer_batch(engine, batch, beside, say)
    if beside.replay.choice != header.replay:
        # Before the outcomes, so that a resumed run finds the choice wherever it finds the pilot whole.
        pilot = header.measurements.model_copy(update={"pilot": beside.replay.times})
        header = header.model_copy(update={"replay": beside.replay.choice, "measurements": pilot})
        save_header(task.folder, header)
    add_lines(task.folder / OUTCOMES_FILE, answers.outcomes)
    measured = _measured(header, answers, clock() - started, beside)
    header = header.model_copy(update={"measurements": measured})
    save_header(task.folder, header)
    say(Advanced(len(answers.outcomes)))
    return header


def _plan(task: Task, engine: Engine, prompts: list[Prompt]) -> list[Lap]:
    # Samples are repeats already.
    again = {} if task.temperature else task.again
    limits = Limits(task.batch_size, task.batch_tokens, work_on(task.device))
    sizes = Sizes(limits, again, task.repeats, task.in_waves, task.seed, samples=task.samples)
    return plan_laps(prompts, lambda prompt: not is_too_long(engine, prompt), sizes)


def _begin(task: Task, header: RecordHeader, batches: list[Batch], *, measures: bool) -> Kept:
    """Start a fresh record, or take over what an interrupted one holds in whole batches."""
    resumed = task.resume and (task.folder / RECORD_FILE).exists()
    if resumed:
        check_same_identity(load_header(task.folder), header)
    cases = [case_info(suite.name, case) for suite in task.suites for case in suite.cases]
    save_lines(task.folder / CASES_FILE, cases)
    if resumed:
        # The baseline is scored against itself alone, in its repeats.
        return keep_whole_batches(
            task.folder, batches, lambda repeat: measures and (repeat > 0 or task.baseline is not None)
        )
    (task.folder / OUTCOMES_FILE).write_bytes(b"")
    for left in (task.folder / SCORED_FILE, *(task.folder / STATES_FOLDER).glob("*.states")):
        left.unlink(missing_ok=True)
    return Kept(frozenset(), 0)


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


def _measured(header: RecordHeader, answers: BatchAnswers, seconds: float, beside: Beside) -> Measurements:
    before, apart = header.measurements, beside.apart
    run_s = (before.run_s or 0.0) + seconds - apart.seconds
    generated = before.generated_tokens + sum(len(outcome.token_ids) for outcome in answers.outcomes)
    replayed = header.replay is not None and header.replay.chosen == "replay"
    return before.model_copy(
        update={
            "run_s": run_s,
            "prompt_tokens": before.prompt_tokens + sum(outcome.prompt_tokens or 0 for outcome in answers.outcomes),
            "generated_tokens": generated,
            "tokens_per_s": generated / run_s if run_s > 0 and not replayed else None,
            "peak_memory_bytes": highest(before.peak_memory_bytes, apart.peak_before_bytes, peak_memory_bytes()),
            "device_peak_memory_bytes": highest(
                before.device_peak_memory_bytes, apart.device_peak_before_bytes, device_peak_memory_bytes()
            ),
            "split_batches": before.split_batches + (answers.parts > 1),
            "unreplayed_batches": before.unreplayed_batches + beside.replay.did_not_fit,
            "score_s": (before.score_s or 0.0) + beside.scoring.seconds if beside.scoring.seconds else before.score_s,
            "pilot": beside.replay.times or before.pilot,
        }
    )


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
