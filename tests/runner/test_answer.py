"""A variant's process, run in this one with the scripted engine: what it writes, and how it takes over."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from qeval.engines.base import DECODING, Prompt
from qeval.engines.scripted import ScriptedEngine
from qeval.errors import UsageError
from qeval.record import OUTCOMES_FILE, Reason, Stopping, load_record, save_header
from qeval.rendering.template import RefusedError
from qeval.runner.answer import run_task
from qeval.runner.plan import load_plan, resolve_plan
from qeval.runner.task import Advanced, Planned, Said, Stage, Task
from qeval.suites.case import Case
from tests.cli.job_files import write_job


def make_task(folder: Path, name: str = "fp32", **changes: Any) -> Task:
    plan = resolve_plan(load_plan(write_job(folder, {"int8": {"same_as": "fp32"}}, 40)))
    (folder / "record").mkdir(exist_ok=True)
    variant = next(variant for variant in plan.variants if variant.name == name)
    task = Task(
        near_equal={},
        folder=folder / "record",
        name=name,
        spec=variant.spec,
        model=None,
        suites=plan.suites,
        device="cpu",
        threads=1,
        batch_size=6,
        batch_tokens=100_000,
        again={suite.name: len(suite.cases) // 4 for suite in plan.suites},
        repeats=1,
        repeat_threads=None,
        in_waves=False,
        stop_on=(),
        seed=0,
        head="model",
        temperature=0,
        samples=1,
        fidelity=False,
        reverse_kl=False,
        decode="plain",
        baseline=None,
        script=plan.script,
        resume=False,
    )
    return task._replace(**changes)


def run(task: Task, *replies: Reason | None) -> list[Said]:
    said: list[Said] = []
    ticks, replying = iter(range(10_000)), iter(replies)
    run_task(task, said.append, lambda: next(replying), lambda: float(next(ticks)))
    return said


def test_a_record_holds_every_case_once_and_a_quarter_of_them_twice(tmp_path: Path) -> None:
    said = run(make_task(tmp_path))
    record = load_record(tmp_path / "record")
    assert record.header.state == "complete"
    assert [len(record.by_case(repeat)) for repeat in (0, 1)] == [40, 10]
    assert Planned(50, 0) in said
    assert sum(one.answers for one in said if isinstance(one, Advanced)) == 50
    assert record.header.decoding.items() >= DECODING.items()
    assert record.header.batch_mates is None


def test_times_come_from_the_clock_that_is_handed_in_and_only_answering_counts(tmp_path: Path) -> None:
    run(make_task(tmp_path))
    measured = load_record(tmp_path / "record").header.measurements
    n_batches = 7 + 3
    # Each batch reads the clock at both ends and around its grading, which does not count.
    assert (measured.load_s, measured.run_s) == (1.0, 2.0 * n_batches)
    assert measured.tokens_per_s == measured.generated_tokens / (2 * n_batches)


@pytest.mark.parametrize("cut", [0.1, 0.5, 0.93, 1.0])
def test_a_resume_redoes_only_what_is_missing_and_leaves_the_same_record(tmp_path: Path, cut: float) -> None:
    task = make_task(tmp_path)
    run(task)
    path = tmp_path / "record" / OUTCOMES_FILE
    whole, before = path.read_bytes(), load_record(tmp_path / "record").header
    path.write_bytes(whole[: int(cut * len(whole))])
    said = run(task._replace(resume=True))
    (planned,) = [one for one in said if isinstance(one, Planned)]
    assert planned.done == 50 - sum(one.answers for one in said if isinstance(one, Advanced))
    assert (planned.done > 0) == (cut > 0.2)
    assert path.read_bytes() == whole
    after = load_record(tmp_path / "record").header
    assert after.measurements.attempts == 2
    assert after.measurements.generated_tokens == before.measurements.generated_tokens
    assert after.model_copy(update={"measurements": before.measurements}) == before


def test_a_resume_of_another_variant_is_refused_before_anything_is_dropped(tmp_path: Path) -> None:
    run(make_task(tmp_path))
    before = (tmp_path / "record" / OUTCOMES_FILE).read_bytes()
    with pytest.raises(UsageError, match="variant was fp32, is int8"):
        run(make_task(tmp_path, "int8", resume=True))
    assert (tmp_path / "record" / OUTCOMES_FILE).read_bytes() == before


def test_a_case_too_long_for_the_context_is_never_shown_to_the_engine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # "user: Capital number 7?" is 23 bytes, the others 24; answers may take 64.
    monkeypatch.setattr("qeval.engines.scripted.ScriptedEngine.context_tokens", 23 + 64)
    run(make_task(tmp_path))
    outcomes = load_record(tmp_path / "record").by_case()
    refused = [outcome for outcome in outcomes.values() if outcome.status == "over_context"]
    assert len(outcomes) == 40
    assert len(refused) == 30
    assert all(not outcome.text and outcome.passed() is None for outcome in refused)
    assert "do not fit in a context of 87" in refused[0].detail


@pytest.fixture
def small_waves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("qeval.runner.laps.WAVE_CASES", 10)


@pytest.mark.usefixtures("small_waves")
def test_a_run_ends_where_it_is_told_to_and_says_why(tmp_path: Path) -> None:
    said = run(make_task(tmp_path, in_waves=True, stop_on=("harm",)), None, "harm")
    record = load_record(tmp_path / "record")
    assert len(record.by_case()) == 20
    assert record.header.stopping == Stopping(on=("harm",), ended="harm")
    assert record.header.state == "complete"
    assert Stage("ended early: harm") in said


@pytest.mark.usefixtures("small_waves")
def test_a_run_that_nothing_ends_asks_after_every_wave_but_the_last(tmp_path: Path) -> None:
    run(make_task(tmp_path, in_waves=True, stop_on=("harm",)), None, None)
    record = load_record(tmp_path / "record")
    assert len(record.by_case()) == 40
    assert record.header.stopping == Stopping(on=("harm",))


@pytest.mark.usefixtures("small_waves")
def test_the_baseline_runs_in_the_same_waves_and_asks_nobody(tmp_path: Path) -> None:
    run(make_task(tmp_path, in_waves=True))
    record = load_record(tmp_path / "record")
    assert record.header.stopping is None
    before = record.header.batches
    run(make_task(tmp_path, "int8", in_waves=True, stop_on=("harm",)), None, None, None)
    assert load_record(tmp_path / "record").header.batches == before


@pytest.mark.usefixtures("small_waves")
@pytest.mark.parametrize(("kept", "replies"), [(10, ("harm",)), (16, (None, "harm")), (20, ("harm",))])
def test_a_resumed_run_asks_where_the_undisturbed_one_would(
    tmp_path: Path, kept: int, replies: tuple[Reason | None, ...]
) -> None:
    task = make_task(tmp_path, in_waves=True, stop_on=("harm",), again={})
    run(task, None, None)
    path = task.folder / OUTCOMES_FILE
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(lines[:kept]))
    # Of 16, the six of the second wave are no random share of it: the first wave is not asked about again.
    run(task._replace(resume=True), *(replies if kept != 16 else ("harm",)))
    record = load_record(task.folder)
    assert record.header.stopping == Stopping(on=("harm",), ended="harm")
    assert len(record.by_case()) == (10 if kept == 10 else 20)


@pytest.mark.usefixtures("small_waves")
def test_a_record_keeps_its_own_rule_when_it_is_taken_over(tmp_path: Path) -> None:
    task = make_task(tmp_path, in_waves=True)
    run(task)
    path = task.folder / OUTCOMES_FILE
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:10]))
    run(task._replace(resume=True, stop_on=("harm",)))
    assert load_record(task.folder).header.stopping is None


@pytest.mark.usefixtures("small_waves")
def test_a_run_that_died_as_it_ended_is_asked_about_again(tmp_path: Path) -> None:
    task = make_task(tmp_path, in_waves=True, stop_on=("harm",), again={})
    run(task, "harm")
    header = load_record(task.folder).header
    save_header(task.folder, header.model_copy(update={"state": "crashed"}))
    run(task._replace(resume=True), "harm")
    assert load_record(task.folder).header == header.model_copy(
        update={"measurements": load_record(task.folder).header.measurements}
    )


def test_one_wave_cannot_end_early_and_pays_nothing_for_it(tmp_path: Path) -> None:
    run(make_task(tmp_path, in_waves=True, stop_on=("harm",)))
    assert load_record(tmp_path / "record").header.stopping is None


STOPPED = [
    ("Oslo\n问题：next", {}, ("Oslo\n", "stop", None, "pass")),
    ("Oslo\n问题：next", {"finish": "length"}, ("Oslo\n", "stop", None, "pass")),
    ("Bergen\n问题：Oslo", {}, ("Bergen\n", "stop", None, "fail")),
    ("问题：Oslo", {}, ("", "stop", "empty", "fail")),
    ("Oslo and on", {"finish": "length"}, ("Oslo and on", "length", "truncated", "pass")),
]


@pytest.mark.parametrize(("text", "more", "expected"), STOPPED)
def test_c24_an_answer_ends_before_its_stop_text_in_any_width(
    text: str, more: dict[str, Any], expected: tuple[Any, ...], tmp_path: Path
) -> None:
    task = make_task(tmp_path, "int8", again={})
    (suite,) = task.suites
    case = suite.cases[0].model_copy(update={"stop": ("问题:",)})
    (tmp_path / "script.yaml").write_text(
        yaml.safe_dump({"variants": {"int8": {"answers": {case.id: {"text": text, **more}}}}}), encoding="utf-8"
    )
    run(task._replace(suites=(suite.model_copy(update={"cases": (case,)}),)))
    (outcome,) = load_record(tmp_path / "record").outcomes
    assert (outcome.text, outcome.finish, outcome.failure, outcome.grades[0].status) == expected
    assert "next" not in bytes(outcome.token_ids).decode()


SYSTEM, DOCUMENT, ASKED = "Be short.", "The quick fox. " * 20, "Who is quick?"
LONG_CASE = [
    {"role": "system", "content": SYSTEM},
    {"role": "user", "content": f"{DOCUMENT}\n{ASKED}"},
]
LONG_BYTES = len(f"system: {SYSTEM}\nuser: {DOCUMENT}\n{ASKED}")
TURNS = [LONG_CASE[0], {"role": "user", "content": "a" * 100}, {"role": "assistant", "content": "b" * 100}]
TURNS_BYTES = LONG_BYTES + len("\nuser: \nassistant: ") + 200
FITTING = [
    ("C27-1 far too long", LONG_CASE, 16, 64, None),
    ("C27 further 1: one token too many", LONG_CASE, 16, LONG_BYTES + 15, None),
    ("C27 further 2: just fits", LONG_CASE, 16, LONG_BYTES + 16, LONG_BYTES),
    ("C27 further 3: the prompt fits, its answer does not", LONG_CASE, 64, LONG_BYTES + 10, None),
    ("C27 further 4: the prompt alone fills the context", LONG_CASE, 1, LONG_BYTES, None),
    ("C27 further 5: an answer of one token fits", LONG_CASE, 1, LONG_BYTES + 1, LONG_BYTES),
    ("C27 further 6: the context is not known", LONG_CASE, 16, None, LONG_BYTES),
    ("C27 further 7: earlier turns count", [*TURNS, LONG_CASE[1]], 16, LONG_BYTES + 16, None),
    ("C27 further 8: earlier turns fit", [*TURNS, LONG_CASE[1]], 16, TURNS_BYTES + 16, TURNS_BYTES),
    ("C27 further 9: without the system text it would fit", LONG_CASE, 16, LONG_BYTES + 16 - len(SYSTEM), None),
    ("C27 further 10: without the question it would fit", LONG_CASE, 16, LONG_BYTES + 16 - len(ASKED), None),
    ("C27 further 11: letters of several tokens", [{"role": "user", "content": "é" * 50}], 16, 50 + 6 + 16, None),
    ("C27 further 12: letters of several tokens fit", [{"role": "user", "content": "é" * 50}], 16, 106 + 16, 106),
]


@pytest.mark.parametrize("row", FITTING, ids=lambda row: row[0])
def test_c27_a_prompt_is_read_whole_or_not_at_all(
    row: tuple[str, list[dict[str, str]], int, int | None, int | None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, messages, limit, context, read = row
    monkeypatch.setattr("qeval.engines.scripted.ScriptedEngine.context_tokens", context)
    task = make_task(tmp_path, again={})
    (suite,) = task.suites
    case = Case(id="c0", messages=messages, graders=suite.cases[0].graders, max_new_tokens=limit)
    run(task._replace(suites=(suite.model_copy(update={"cases": (case,)}),)))
    (outcome,) = load_record(tmp_path / "record").outcomes
    if read is None:
        assert (outcome.status, outcome.passed(), outcome.text) == ("over_context", None, "")
        assert outcome.grades[0].fault == "over_context"
    else:
        assert (outcome.status, outcome.prompt_tokens) == ("answered", read)


@pytest.mark.parametrize(("context", "status"), [(64, "answered"), (200, "answered"), (40, "over_context")])
def test_c27_a_case_that_allows_it_is_cut_in_the_middle_and_says_how_much_went(
    context: int, status: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("qeval.engines.scripted.ScriptedEngine.context_tokens", context)
    task = make_task(tmp_path, again={})
    (suite,) = task.suites
    grader = suite.cases[0].graders
    case = Case(id="c0", messages=LONG_CASE, graders=grader, max_new_tokens=context // 4, truncate="middle")
    run(task._replace(suites=(suite.model_copy(update={"cases": (case,)}),)))
    (outcome,) = load_record(tmp_path / "record").outcomes
    assert outcome.status == status
    if status == "answered":
        room = context - context // 4
        assert outcome.prompt_tokens == room
        assert outcome.detail == f"{LONG_BYTES - room} tokens were cut from the middle of the prompt"
        assert outcome.passed() is True


def test_d07_a_refused_case_is_ungraded_by_name_and_all_others_run(tmp_path: Path) -> None:
    why = "not in the prompt: the text of message 1 (user)"
    task = make_task(tmp_path)
    run(task._replace(refused={task.suites[0].name: {"c3": why}}))
    outcomes = load_record(tmp_path / "record").by_case()
    (refused,) = [outcome for outcome in outcomes.values() if not outcome.answered]
    assert (refused.case, refused.status, refused.detail) == ("c3", "unsupported", why)
    assert (refused.prompt_tokens, refused.prompt_hash, refused.passed()) == (None, None, None)
    assert {grade.status for grade in refused.grades} == {"ungraded"}
    assert len(outcomes) == 40


def test_what_a_template_refuses_in_a_variants_own_process_is_refused_by_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    render = ScriptedEngine.render

    def picky(engine: ScriptedEngine, suite: str, case: Case) -> Prompt:
        if case.id == "c3":
            raise RefusedError("the tokenizer refuses its text: TypeError")
        return render(engine, suite, case)

    monkeypatch.setattr(ScriptedEngine, "render", picky)
    run(make_task(tmp_path))
    outcomes = load_record(tmp_path / "record").by_case()
    assert [outcome.detail for outcome in outcomes.values() if not outcome.answered] == [
        "the tokenizer refuses its text: TypeError"
    ]
