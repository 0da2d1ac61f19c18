"""The pilot of replay inside a run: what it decides from, what it leaves in the record, what a resume does with it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from qeval.engines.base import Answer, Generation, OnStep
from qeval.engines.replay import BatchReading
from qeval.engines.transformers import TransformersEngine
from qeval.engines.work import Work
from qeval.record import OUTCOMES_FILE, Record, Replay, load_record
from qeval.runner import answer
from qeval.runner.apart import Apart
from qeval.runner.batches import Batch
from qeval.runner.replaying import BatchReplay, Kind, Replaying, settled
from tests.engines.test_transformers import prompt
from tests.runner.test_answer import make_task
from tests.runner.test_decoding import run, tiny_task

PROMPTS = tuple(prompt(f"p{n}", [5, n + 2], 6) for n in range(12))
ANSWERS = {("s", one.case.id): Answer((1, 2, 3, 4), ended=True) for one in PROMPTS}
SAME = [Generation(text="a", token_ids=(1, 2, 3, 4), finish="stop")] * 12


def other(generations: list[Generation], *places: int) -> list[Generation]:
    return [one._replace(token_ids=(1, 9)) if n in places else one for n, one in enumerate(generations)]


class FakeReading:
    """Takes `follow_s` and `replay_s` of a made clock."""

    def __init__(self, clock: list[float], replayed: list[Generation], *, fails: bool = False) -> None:
        self.clock, self.replayed, self.fails, self.followed = clock, replayed, fails, False

    def follow(self, answers: Sequence[Answer | None]) -> list[Any]:
        self.clock[0] += 2
        self.followed = True
        return []

    def replay(self, on_step: OnStep) -> list[Generation]:
        self.clock[0] += 3
        if self.fails:
            raise MemoryError
        return self.replayed


WORK = Work(chunk_tokens=100, pass_tokens=10, step_rows=20, row_tokens=100)


def pilot(
    replayed: list[Generation],
    plain: list[Generation] = SAME,
    *,
    plain_s: float = 10,
    followed: bool = False,
    work: Work = WORK,
) -> tuple[Replay, BatchReplay]:
    clock = [0.0]
    replaying = Replaying(ANSWERS, None, work)
    beside = BatchReplay(replaying, Batch(0, 0, PROMPTS), Apart(lambda: clock[0]), lambda: clock[0])
    reading = FakeReading(clock, replayed)
    reading.followed = followed
    assert beside.on_read(PROMPTS, reading, lambda tokens: None) is None
    clock[0] += plain_s
    beside.on_answered(plain, 1)
    assert replaying.choice is not None
    return replaying.choice, beside


def test_replay_with_the_same_tokens_and_less_work_is_chosen() -> None:
    found, beside = pilot(SAME)
    assert (found.chosen, found.why) == ("replay", "less work, and the same tokens in every case of the pilot")
    assert found.pilot is not None
    assert (found.pilot.same, found.pilot.n_cases) == (12, 12)
    assert (found.pilot.agreed_positions, found.pilot.positions) == (60, 60)
    # Five steps of twelve rows of up to 8 tokens; one pass over twelve answers of five positions, and their head.
    assert found.pilot.plain_work == pytest.approx(5 * (20 + 12 * (1 + 8 / 100)))
    assert found.pilot.replay_work == pytest.approx(10 + 12 * 5 + 60)
    assert beside.times is not None
    assert (beside.times.follow_s, beside.times.replay_s, beside.times.plain_s) == (2, 3, 10)


@pytest.mark.parametrize("plain_s", [0.0, 5.0, 1e6])
@pytest.mark.parametrize("changed", [0, 1, 5])
def test_no_time_changes_the_choice(plain_s: float, changed: int) -> None:
    """D41: the same answers beside any load."""
    replayed = other(SAME, *range(changed))
    assert pilot(replayed, plain_s=plain_s)[0] == pilot(replayed, plain_s=10)[0]


@pytest.mark.parametrize("place", [0, 6, 11])
def test_one_changed_answer_of_the_pilot_leaves_it_plain(place: int) -> None:
    found, _ = pilot(other(SAME, place))
    assert (found.chosen, found.why) == ("plain", "replay changed answers of the pilot")


def test_replay_that_is_no_less_work_is_not_chosen() -> None:
    own = [Generation(text="b", token_ids=(1, 2, 9, 9, 9, 9), finish="length")] * 12
    found, _ = pilot(own, own)
    assert (found.chosen, found.why) == ("plain", "replay is no less work")
    assert found.pilot is not None
    assert found.pilot.agreed_positions == 24
    # Four steps are left to every row, whose caches are copied.
    left = 4 * (20 + 12 * (1 + 8 / 100))
    assert found.pilot.replay_work == pytest.approx(10 + 12 * 5 + 12 * 8 / 100 + 24 + left)
    found, _ = pilot(own, own, followed=True)
    assert found.pilot is not None
    assert found.pilot.replay_work == pytest.approx(12 * 8 / 100 + 24 + left)


def test_where_an_answer_leaves_the_baselines_is_counted_in_its_positions() -> None:
    changed = [SAME[0]._replace(token_ids=(1, 2), finish="stop"), *SAME[1:]]
    found, _ = pilot(changed, changed)
    assert found.pilot is not None
    assert found.pilot.agreed_positions == 60 - 3


@pytest.mark.parametrize(
    ("asked", "answers", "first", "mates", "fault", "chosen"),
    [
        ("plain", ANSWERS, [12, 12], 0.0, "", "plain"),
        ("replay", ANSWERS, [1], 1.7, "", "replay"),
        ("replay", {}, [12, 12], 0.0, "", "plain"),
        ("replay", ANSWERS, [12, 12], 0.0, "its cache cannot be cut", "plain"),
        ("auto", ANSWERS, [12, 12], 1.7, "", "plain"),
        ("auto", {}, [12, 12], 0.0, "", "plain"),
        ("auto", ANSWERS, [12], 0.0, "", "plain"),
        ("auto", ANSWERS, [7, 7], 0.0, "", "plain"),
        ("auto", ANSWERS, [8, 1], 0.0, "", None),
        ("auto", ANSWERS, [12, 12], None, "", None),
    ],
)
def test_what_needs_no_pilot(  # noqa: PLR0917 - a row of a table
    tmp_path: Path, asked: Any, answers: Any, first: list[int], mates: float | None, fault: str, chosen: str | None
) -> None:
    found = settled(make_task(tmp_path, decode=asked), answers, first, mates=mates, unreplayable=fault)
    assert (found and found.chosen) == chosen
    assert not fault or (found and found.why == fault)


@pytest.mark.parametrize(("fails", "parts"), [(True, 1), (False, 2)])
def test_a_pilot_in_parts_or_without_memory_chooses_nothing(fails: bool, parts: int) -> None:
    replaying = Replaying(ANSWERS, None, WORK)
    now = [0.0]
    apart = Apart(lambda: now[0])
    beside = BatchReplay(replaying, Batch(0, 0, PROMPTS), apart, lambda: now[0])
    assert beside.on_read(PROMPTS, FakeReading(now, SAME, fails=fails), lambda tokens: None) is None
    assert apart.seconds == 5
    beside.on_answered(SAME, parts)
    assert replaying.choice is not None
    assert (replaying.choice.chosen, replaying.choice.pilot) == ("plain", None)
    assert "did not fit in memory" in replaying.choice.why


def test_memory_that_runs_out_in_replay_leaves_the_batch_to_plain_decoding() -> None:
    replaying = Replaying(ANSWERS, Replay(chosen="replay", why="as asked"), WORK)
    now = [0.0]
    beside = BatchReplay(replaying, Batch(0, 1, PROMPTS), Apart(lambda: now[0]), lambda: now[0])
    assert beside.on_read(PROMPTS, FakeReading(now, SAME, fails=True), lambda tokens: None) is None
    assert beside.did_not_fit


def test_batches_that_replay_did_not_fit_are_counted_in_the_record(
    both: Callable[..., Record], monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = both("plain", decode="plain", batch_size=5)

    def fails(self: BatchReading, on_step: OnStep) -> list[Generation]:
        raise MemoryError

    monkeypatch.setattr(BatchReading, "replay", fails)
    record = both("fails", decode="replay", batch_size=5)
    assert tokens(record) == tokens(plain)
    batches = {one.batch for one in record.outcomes if not one.repeat}
    assert record.header.measurements.unreplayed_batches == len(batches) > 1
    pilot = both("pilot", decode="auto", batch_size=9)
    assert pilot.header.measurements.unreplayed_batches == 0


def test_the_pilots_batch_is_decoded_plainly_whenever_it_is_redone() -> None:
    choice, _ = pilot(SAME)
    assert choice.pilot is not None
    third = choice.model_copy(update={"pilot": choice.pilot.model_copy(update={"batch": 3})})
    replaying = Replaying(ANSWERS, third, WORK)
    assert [replaying.kind(Batch(0, number, PROMPTS)) for number in (0, 3)] == ["replay", "plain"]
    assert replaying.kind(Batch(1, 0, PROMPTS)) == "plain"


@pytest.fixture
def ticking(monkeypatch: pytest.MonkeyPatch) -> Callable[[], float]:
    """A clock that replay barely moves and decoding does."""
    now = [0.0]
    monkeypatch.setattr(TransformersEngine, "answer", _slow(TransformersEngine.answer, now))
    return lambda: now[0]


def _slow(real: Any, now: list[float]) -> Any:
    def answer_slowly(self: Any, prompts: Any, on_step: Any, on_read: Any = None) -> Any:
        generations = real(self, prompts, on_step, on_read)
        now[0] += 10
        return generations

    return answer_slowly


@pytest.fixture
def both(tmp_path: Path, tiny_model_folder: Path, ticking: Callable[[], float]) -> Callable[..., Record]:
    """Runs a candidate along one baseline."""
    base = tiny_task(tmp_path / "fp32", tiny_model_folder)
    run(base)

    def candidate(folder: str, format_name: str = "fp32", **changes: Any) -> Record:
        task = tiny_task(tmp_path / folder, tiny_model_folder, format_name, **{"baseline": base.folder, **changes})
        answer.run_task(task, lambda said: None, lambda: None, ticking)
        return load_record(task.folder)

    return candidate


def tokens(record: Record) -> list[tuple[str, int, tuple[int, ...], str | None]]:
    return [(one.case, one.repeat, one.token_ids, one.finish) for one in record.outcomes]


@pytest.mark.parametrize("fidelity", [False, True])
def test_a_run_by_replay_leaves_what_plain_decoding_does(
    both: Callable[..., Record], fidelity: bool, tmp_path: Path, tiny_model_folder: Path
) -> None:
    changes: dict[str, Any] = {"batch_size": 9}
    if fidelity:
        changes |= {"fidelity": True, "again": {"capitals": 4}}
        base = tiny_task(tmp_path / "kept", tiny_model_folder, **changes)
        run(base)
        changes["baseline"] = base.folder
    for name in ("fp32", "quanto-int8"):
        plain, auto, forced = (
            both(f"{name}-{decode}", name, decode=decode, **changes) for decode in ("plain", "auto", "replay")
        )
        assert tokens(plain) == tokens(auto) == tokens(forced)
        assert plain.scored == auto.scored
        assert len(auto.scored) == (16 if fidelity else 0)
        assert [one.header.replay and one.header.replay.chosen for one in (plain, forced)] == ["plain", "replay"]
        assert auto.header.replay is not None
        assert auto.header.replay.pilot is not None
        assert auto.header.measurements.pilot is not None
        assert forced.header.measurements.tokens_per_s is None


@pytest.mark.parametrize(("kept", "kinds"), [(0.0, ["plain", "replay"]), (0.3, ["plain", "replay"]), (0.9, ["replay"])])
def test_a_resumed_run_keeps_to_what_its_pilot_chose(  # noqa: PLR0917 - fixtures
    tmp_path: Path,
    tiny_model_folder: Path,
    ticking: Callable[[], float],
    monkeypatch: pytest.MonkeyPatch,
    kept: float,
    kinds: list[str],
) -> None:
    base = tiny_task(tmp_path / "fp32", tiny_model_folder)
    run(base)
    task = tiny_task(tmp_path / "again", tiny_model_folder, baseline=base.folder, decode="auto", batch_size=9)
    answer.run_task(task, lambda said: None, lambda: None, ticking)
    before = load_record(task.folder).header.replay
    assert before is not None
    assert (before.chosen, before.pilot is not None) == ("replay", True)
    path = task.folder / OUTCOMES_FILE
    lines = path.read_bytes()
    path.write_bytes(lines[: int(kept * len(lines))])
    seen: list[str] = []
    kind = Replaying.kind

    def watched(self: Replaying, batch: Batch) -> Kind:
        seen.append(kind(self, batch))
        return kind(self, batch)

    monkeypatch.setattr(Replaying, "kind", watched)
    answer.run_task(task._replace(resume=True), lambda said: None, lambda: None, ticking)
    assert path.read_bytes() == lines
    assert load_record(task.folder).header.replay == before
    assert seen == kinds


def test_a_case_that_is_too_long_is_no_batch_that_could_be_replayed(
    both: Callable[..., Record], tiny_model_folder: Path, tmp_path: Path
) -> None:
    task = tiny_task(tmp_path / "long", tiny_model_folder, batch_size=64)
    (suite,) = task.suites
    cases = (suite.cases[0].model_copy(update={"max_new_tokens": 10_000}), *suite.cases[1:])
    suites = (suite.model_copy(update={"cases": cases}),)
    run(task._replace(suites=suites))
    along = tiny_task(tmp_path / "along", tiny_model_folder, baseline=task.folder, decode="auto", batch_size=64)
    replay = run(along._replace(suites=suites)).header.replay
    assert (replay and replay.why) == "all cases are one batch, and a pilot would leave nothing to replay"
