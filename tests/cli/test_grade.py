"""`qeval grade`: one answer, a file of answers, a stored record; what cannot be read ends with 2."""

from __future__ import annotations

import json
import shutil
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import Any

import pytest

from qeval.jsonl import read_lines
from qeval.record import load_record, save_record
from tests.cli.job_files import qeval, qeval_entry, write_job

CASE = {
    "id": "order/1",
    "prompt": "Which order?",
    "tools": [{"name": "find", "parameters": {"type": "object", "properties": {"n": {"type": "integer"}}}}],
    "graders": [{"kind": "tool_call", "calls": [{"name": "find", "arguments": {"n": 7}}]}],
}


def told(*arguments: object) -> Any:
    done = qeval_entry("grade", *arguments, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    path = tmp_path / "orders.jsonl"
    second = {"id": "c", "prompt": "Capital?", "graders": [{"kind": "contains", "value": "Lima"}]}
    path.write_text(f"{json.dumps(CASE)}\n{json.dumps(second)}\n", encoding="utf-8")
    return path


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(("n", "passes", "fault"), [(7, True, None), (8, False, "wrong_value")])
def test_one_answer_is_graded_and_a_fail_is_no_error(
    suite: Path, tmp_path: Path, n: int, passes: bool, fault: str | None
) -> None:
    answer = write(tmp_path / "answer.txt", f'{{"name": "find", "arguments": {{"n": {n}}}}}\n')
    graded = told(f"{suite}/order/1", answer)
    assert (graded["suite"], graded["case"], graded["pass"]) == ("orders", "order/1", passes)
    assert graded["grades"][0]["class"] == fault
    printed = qeval("grade", f"{suite}/order/1", answer).stdout
    assert ("wrong_value" in printed) == (fault is not None)


def test_a_case_in_a_file_of_its_own_is_graded(tmp_path: Path) -> None:
    case = write(tmp_path / "one.json", json.dumps(CASE))
    answer = write(tmp_path / "answer.txt", "find(n=7)")
    assert told(case, answer)["pass"]


def test_an_answer_comes_from_stdin(suite: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", TextIOWrapper(BytesIO(b"[find(n=7)]")))
    assert told(f"{suite}/order/1", "-")["pass"]


def test_the_size_chooses_the_cases() -> None:
    case = "longdoc/longdoc-smoke-000-single-195ca5"
    done = qeval_entry("grade", case, "-", "--size", "standard")
    assert done.returncode == 2
    assert "at size standard" in done.stderr


def test_a_file_of_answers_is_counted_by_class(suite: Path, tmp_path: Path) -> None:
    name = f"{suite}/order/1"
    lines: list[dict[str, Any]] = [
        {"case": name, "text": "find(n=7)"},
        {"suite": str(suite), "case": "order/1", "tool_calls": [{"name": "find", "arguments": {"n": 7}}]},
        {"case": name, "text": "find(n=8)"},
        {"case": f"{suite}/c", "text": "It is Li", "finish": "length"},
    ]
    answers = write(tmp_path / "answers.jsonl", "".join(json.dumps(line) + "\n" for line in lines))
    graded = told(answers)
    assert [answer["pass"] for answer in graded["answers"]] == [True, True, False, False]
    assert {(row["class"], row["answers"]) for row in graded["counts"]} == {
        (None, 2),
        ("wrong_value", 1),
        ("truncated", 1),
    }
    printed = qeval("grade", answers).stdout
    assert "4 answers: 2 fail, 2 pass" in printed
    assert "orders/order/1: tool_call wrong_value: " in printed


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('{"case": "orders.jsonl/order/2", "text": ""}', "line 2: suite 'orders' has no case 'order/2'"),
        ('{"case": "nothing", "text": ""}', "line 2: nothing: not a case. Write SUITE/CASE-ID"),
        ('{"case": "schma/x", "text": ""}', "line 2: unknown suite 'schma'. Did you mean 'schema'?"),
        ('{"case": "orders.jsonl/order/1"}', "line 2: give 'text' or 'tool_calls'"),
        ('{"case": "orders.jsonl/order/1", "txt": "x"}', "unknown key 'txt'. Did you mean 'text'?"),
        ('{"case": "orders.jsonl/order/1", "text": "", "finish": "eos"}', "line 2: key 'finish'"),
        ("{", "line 2: not JSON"),
    ],
)
def test_a_faulty_line_is_named(
    suite: Path, tmp_path: Path, line: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "answers.jsonl", f"\n{line}\n")
    done = qeval_entry("grade", "answers.jsonl")
    assert done.returncode == 2
    assert words in done.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["answers.txt"], "no .jsonl file of answers and no record"),
        (["empty.jsonl"], "holds no answer"),
        (["orders.jsonl/order/1", "gone.txt"], "gone.txt: cannot read it"),
        (["orders.jsonl/order/1", "empty.jsonl", "--suites", "a"], "--suites goes with a record alone"),
        (["bad.json", "empty.jsonl"], "bad.json: not JSON"),
        (["./gone/order", "empty.jsonl"], "no such suite"),
    ],
)
def test_bad_input_ends_with_2(
    suite: Path, tmp_path: Path, arguments: list[str], words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "empty.jsonl", "\n")
    write(tmp_path / "bad.json", "{")
    done = qeval_entry("grade", *arguments)
    assert done.returncode == 2
    assert words in done.stderr


def test_a_record_is_graded_again_by_the_suite_as_it_is_now(finished: Path, tmp_path: Path) -> None:
    record = finished / "out/records/fp32"
    again = told(record, "--suites", finished / "capitals")
    first = [answer for answer in again["answers"] if "repeat" not in answer]
    assert sum(answer["pass"] for answer in first) == 6
    assert (again["changed"], again["other_suites"]) == ([], [])
    write_job(tmp_path, {}, n_cases=12)
    cases = tmp_path / "capitals/cases.jsonl"
    lines = [line.value for line in read_lines(cases)]
    lines[0]["graders"] = [{"kind": "exact", "value": "Rome"}]
    cases.write_text("".join(json.dumps(line) + "\n" for line in lines))
    again = told(record, "--suites", tmp_path / "capitals")
    assert set(again["changed"]) == {"capitals/c0"}
    assert again["other_suites"] == ["capitals"]


def test_a_record_asks_for_a_suite_that_is_not_built_in_and_for_cases_that_are_gone(
    finished: Path, tmp_path: Path
) -> None:
    record = finished / "out/records/fp32"
    done = qeval_entry("grade", record)
    assert (done.returncode, "--suites FOLDER" in done.stderr) == (2, True)
    write_job(tmp_path, {}, n_cases=4)
    done = qeval_entry("grade", record, "--suites", tmp_path / "capitals")
    assert (done.returncode, "as it is now has no case 'c" in done.stderr) == (2, True)


def test_check_tells_a_record_whose_grades_were_changed(finished: Path, tmp_path: Path) -> None:
    """D35: fails became passes, the answers stayed."""
    record, suites = tmp_path / "fp32", finished / "capitals"
    shutil.copytree(finished / "out/records/fp32", record)
    assert qeval_entry("grade", record, "--suites", suites, "--check").returncode == 0
    path = record / "outcomes.jsonl"
    path.write_text(path.read_text().replace('"status": "fail"', '"status": "pass"'))
    assert qeval_entry("grade", record, "--suites", suites).returncode == 2
    done = qeval_entry("grade", record, "--suites", suites, "--check")
    assert done.returncode == 2
    assert "6 of them pass or fail otherwise than the record says" in done.stdout
    assert "outcomes.jsonl, line " in done.stderr


def test_check_tells_grades_that_were_changed_and_signed(finished: Path, tmp_path: Path) -> None:
    record = load_record(finished / "out/records/fp32")
    passed = tuple(
        outcome.model_copy(update={"grades": tuple(g.model_copy(update={"status": "pass"}) for g in outcome.grades)})
        for outcome in record.outcomes
    )
    save_record(tmp_path / "fp32", record._replace(outcomes=passed))
    done = qeval_entry("grade", tmp_path / "fp32", "--suites", finished / "capitals", "--check")
    assert done.returncode == 2
    assert "6 grades are not those of their answers, the first capitals/" in done.stderr


def test_check_goes_with_a_record_alone(tmp_path: Path) -> None:
    (tmp_path / "answers.jsonl").write_text("")
    done = qeval_entry("grade", tmp_path / "answers.jsonl", "--check")
    assert done.returncode == 2
    assert "--check goes with a record alone" in done.stderr
