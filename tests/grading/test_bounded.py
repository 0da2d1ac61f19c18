"""Every grade has a budget, and no grader's trouble with one answer goes further than that grade."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

import qeval
from qeval.grading import Answer, Question, check_grader, grade_outcome, grader_kinds
from qeval.grading._bounded import LONGEST_HERE, MOST_HERE
from qeval.grading._budget import Budget, OutOfStepsError, OutOfTimeError, limited_to
from qeval.grading._json import read_strict
from qeval.grading._patterns import compile_pattern
from qeval.grading._schema import violations
from qeval.grading._worker import WORKER, TookTooLongError, Worker, WorkerEndedError
from qeval.grading.base import find_grader, grade_answer
from qeval.jsonl import dumps, read_lines
from qeval.outcome import Grade, Outcome
from tests.grading import worker_jobs as jobs
from tests.grading.case_files import FOLDER, example_graders

_EXPENSIVE = {"items": {"allOf": [{"type": "integer"}] * 500}}
"""A schema that takes 500 checks for each item."""
_ENDLESS = {"kind": "regex", "pattern": "(?:a+b?)+c"}
_TRAP = "a" * 1_000


def _grades(spec: dict[str, Any], text: str) -> tuple[Grade, ...]:
    kind, options = check_grader(spec, "x")
    return grade_answer(kind, options, Answer(text), Question())


_DEEP = [line.value for line in read_lines(FOLDER / "json_schema/budgets.jsonl")]


@pytest.mark.parametrize("row", _DEEP, ids=lambda row: row["id"])
def test_alternatives_do_not_multiply(row: dict[str, Any]):
    with limited_to(Budget(steps=10_000)):
        violations(dumps(row["grader"]["schema"]), read_strict(row["text"]))


def test_too_much_work_is_a_timeout_with_its_reason(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("qeval.grading._bounded.Budget", lambda: Budget(steps=5_000))
    valid, strict = _grades({"kind": "json_schema", "schema": _EXPENSIVE}, dumps([1] * 1_000))
    assert (valid.metric, valid.status, valid.fault) == ("schema_valid", "ungraded", "grading_timeout")
    assert valid.reason == "it takes more than 5,000 steps of work"
    assert (strict.metric, strict.required, strict.fault) == ("strict_json", False, "grading_timeout")


def test_the_steps_of_a_grade_are_counted_together():
    schema = dumps(_EXPENSIVE)
    with limited_to(Budget(steps=1_500)):
        violations(schema, [1])
        with pytest.raises(OutOfStepsError):
            violations(schema, [1])


def test_the_time_of_many_patterns_is_counted_together(monkeypatch: pytest.MonkeyPatch):
    readings = count(step=0.03)
    monkeypatch.setattr("qeval.grading._budget.time.process_time", lambda: next(readings))
    budget = Budget(patterns_s=0.1)
    quick = compile_pattern("a")
    assert [budget.search(quick, text) for text in ("a", "b", "a")] == [True, False, True]
    with pytest.raises(OutOfTimeError):
        budget.search(quick, "a")


def test_a_pattern_that_does_not_end_is_a_timeout():
    (grade,) = _grades(_ENDLESS, _TRAP)
    assert (grade.fault, grade.status) == ("grading_timeout", "ungraded")
    assert grade.reason == "it takes more than 1 s of processor time"


def test_many_slow_patterns_in_a_schema_are_a_timeout():
    schema = {"patternProperties": {f"(?:a+b?)+{letter}": {} for letter in "cdefgh"}, "unevaluatedProperties": False}
    valid, _ = _grades({"kind": "json_schema", "schema": schema}, dumps({"a" * 1_500: 1}))
    assert (valid.metric, valid.fault) == ("schema_valid", "grading_timeout")


def test_a_pattern_slower_than_the_quick_budget_is_still_graded(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("qeval.grading._bounded.Budget", lambda **given: Budget(patterns_s=1e-9))
    monkeypatch.setattr(WORKER, "limit_s", 30.0)
    (grade,) = _grades({"kind": "regex", "pattern": "(?:a+b?)+c"}, "a" * 16 + "c")
    assert grade.status == "pass"


def test_a_long_answer_is_graded_apart_and_alike(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(WORKER, "limit_s", 60.0)
    run = Mock(wraps=WORKER.run)
    monkeypatch.setattr(WORKER, "run", run)
    text = "The town is Oslo. " * (LONGEST_HERE // 15)
    assert len(text) > LONGEST_HERE
    # Models of languages take seconds to be loaded, here and in the worker.
    for spec in (spec for spec in example_graders() if spec["kind"] != "language"):
        kind, options = check_grader(spec, "x")
        here = find_grader(kind).grade(options, Answer(text), Question("en"))
        assert grade_answer(kind, options, Answer(text), Question("en")) == here
    assert run.call_count == len(grader_kinds()) - 1


def test_a_grader_with_many_values_is_run_apart(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(WORKER, "limit_s", 60.0)
    run = Mock(wraps=WORKER.run)
    monkeypatch.setattr(WORKER, "run", run)
    values = [f"v{number}" for number in range(MOST_HERE + 1)]
    assert _grades({"kind": "contains", "values": values[1:], "all": False}, "v7")[0].status == "pass"
    assert run.call_count == 0
    assert _grades({"kind": "contains", "values": values, "all": False}, "v7")[0].status == "pass"
    assert run.call_count == 1


@pytest.mark.parametrize(
    ("kind", "error"),
    [
        *((kind, RecursionError("deep")) for kind in grader_kinds()),
        *(("exact", error) for error in (MemoryError(), KeyError("k"), TypeError("t"), OverflowError("large"))),
    ],
)
def test_what_a_grader_raises_is_the_answers_alone(kind: str, error: Exception, monkeypatch: pytest.MonkeyPatch):
    spec = next(spec for spec in example_graders() if spec["kind"] == kind)

    def fails(*_: object) -> tuple[Grade, ...]:
        raise error

    usual = _grades(spec, "a usual answer")
    monkeypatch.setattr(find_grader(kind), "grade", fails)
    grades = _grades(spec, "a usual answer")
    assert [(grade.metric, grade.required) for grade in grades] == [(grade.metric, grade.required) for grade in usual]
    assert {(grade.status, grade.fault) for grade in grades} == {("ungraded", "grader_error")}
    assert all(grade.reason.startswith(type(error).__name__) for grade in grades)


def test_other_graders_of_the_case_are_not_touched():
    # Words, since an answer that is one letter is degenerate, so that nothing passes it.
    words = " ".join(f"word{n}" for n in range(40))
    endless = {"kind": "regex", "pattern": r"(?:\w|\w\w| )+(?<!39)$"}
    outcome = Outcome(suite="s", case="c", batch=0, status="answered", text=words)
    graded = grade_outcome(outcome, [{"kind": "not_contains", "value": "zzz"}, endless], Question())
    assert [(grade.metric, grade.status) for grade in graded.grades] == [
        ("not_contains", "pass"),
        ("regex", "ungraded"),
    ]
    assert graded.passed() is None


def test_an_answer_that_cannot_be_read_is_ungraded(monkeypatch: pytest.MonkeyPatch):
    def fails(_: object) -> Answer:
        raise RecursionError("deep")

    monkeypatch.setattr("qeval.grading._bounded.answer_of", fails)
    outcome = Outcome(suite="s", case="c", batch=0, status="answered", text="x", failure="truncated")
    graded = grade_outcome(
        outcome, [{"kind": "exact", "value": "x"}, {"kind": "json_schema", "schema": {}}], Question()
    )
    assert [grade.metric for grade in graded.grades] == ["exact", "schema_valid", "strict_json"]
    assert {(grade.fault, grade.reason) for grade in graded.grades} == {("grader_error", "RecursionError: deep")}
    assert graded.failure == "truncated"


def test_graders_are_called_in_one_place():
    """Else a grade could be made without a budget."""
    package = Path(qeval.__file__).parent
    callers = [path for path in package.rglob("*.py") if ".grade(" in path.read_text("utf-8")]
    assert [str(path.relative_to(package)) for path in callers] == ["grading/_bounded.py"]


@pytest.fixture(scope="module")
def worker() -> Iterator[Worker]:
    made = Worker(limit_s=0.2)
    yield made
    made.close()


@pytest.mark.parametrize("job", [jobs.hang, jobs.hang_in_c], ids=["in Python", "in C"])
def test_a_job_that_does_not_end_is_ended(worker: Worker, job: Callable[[], object]):
    with pytest.raises(TookTooLongError, match=r"more than 0\.2 s of processor time"):
        worker.run(job)


@pytest.mark.parametrize(("job", "how"), [(jobs.crash, "signal 11"), (jobs.fail, "exit code 1")])
def test_a_job_that_ends_its_process_says_how(worker: Worker, job: Callable[[], object], how: str):
    with pytest.raises(WorkerEndedError, match=how):
        worker.run(job)


def test_the_next_job_runs_in_a_new_process(worker: Worker, monkeypatch: pytest.MonkeyPatch):
    first, held = worker.run(jobs.process)
    assert held == []
    assert worker.run(jobs.process)[0] == first != os.getpid()
    # One that only waits is ended by the clock; one may also be killed between two jobs.
    monkeypatch.setattr(worker, "clock_limit_s", 0.1)
    with pytest.raises(TookTooLongError, match="no answer for"):
        worker.run(jobs.wait)
    monkeypatch.undo()
    second, _ = worker.run(jobs.process)
    os.kill(second, signal.SIGKILL)
    os.waitid(os.P_PID, second, os.WEXITED | os.WNOWAIT)
    assert worker.run(jobs.process)[0] not in {first, second}


def test_no_process_to_grade_in_is_said(monkeypatch: pytest.MonkeyPatch):
    def refused(*_: object, **__: object) -> None:
        raise OSError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(subprocess, "Popen", refused)
    with pytest.raises(WorkerEndedError, match="no process can be started to grade in"):
        Worker().run(jobs.process)


_IN_A_DAEMON = """
import os
from multiprocessing import get_context
from qeval.grading._worker import Worker
from tests.grading import worker_jobs as jobs

def answer(connection):
    connection.send(Worker().run(jobs.process)[0])
    connection.recv()

if __name__ == "__main__":
    context = get_context("spawn")
    ours, theirs = context.Pipe()
    context.Process(target=answer, args=(theirs,), daemon=True).start()
    print(ours.recv(), flush=True)
    os._exit(0)
"""


def test_a_worker_of_a_daemon_process_ends_with_it(tmp_path: Path):
    """A variant answers in such a process, which must not have children of multiprocessing's kind."""
    script = tmp_path / "daemon.py"
    script.write_text(_IN_A_DAEMON)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, env=environment, check=True)
    started = Path("/proc") / done.stdout.strip()
    for _ in range(400):
        if not started.exists():
            break
        time.sleep(0.05)
    assert not started.exists()
