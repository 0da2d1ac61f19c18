"""What a library raises on one case, row or schema is told of that one, and all others are used."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from qeval.errors import UsageError
from qeval.grading import regex as regex_grader
from qeval.grading._patterns import compile_pattern
from qeval.suites.check import RawCase
from qeval.suites.importers import gsm8k, jsonschemabench
from qeval.suites.importers.base import Dropped, Reading
from qeval.suites.lint import lint
from qeval.suites.load import load_placed, load_suite
from tests.cli.job_files import qeval_entry
from tests.grading.case_files import FOLDER
from tests.suites.importers.helpers import dropped, imported

_ERRORS = [RecursionError("deep"), ValueError("value"), TypeError("unhashable"), OverflowError("large"), KeyError("k")]
_ODD = [json.loads(line) for line in (FOLDER / "json_schema/odd.jsonl").read_text("utf-8").splitlines()]
_REFUSED = [row["grader"]["schema"] for row in _ODD if "refused" in row]


def _suite(folder: Path, *patterns: str) -> Path:
    path = folder / "suite.jsonl"
    rows = [
        {"id": f"c{number}", "prompt": f"Number {number}?", "graders": [{"kind": "regex", "pattern": pattern}]}
        for number, pattern in enumerate(patterns)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.mark.parametrize("error", _ERRORS, ids=lambda error: type(error).__name__)
def test_a_case_that_a_grader_cannot_take_is_refused_by_name(
    tmp_path: Path, error: Exception, monkeypatch: pytest.MonkeyPatch
):

    def compile_some(pattern: str, flags: int = 0) -> Any:
        if pattern == "bad":
            raise error
        return compile_pattern(pattern, flags)

    monkeypatch.setattr(regex_grader, "_compiled", compile_some)
    with pytest.raises(UsageError) as caught:
        load_suite(_suite(tmp_path, "a", "bad", "b", "bad"))
    said = str(caught.value).splitlines()
    assert len(said) == 2
    for line, number in zip(said, (2, 4), strict=True):
        assert f"suite.jsonl, line {number}" in line
        assert str(error.args[0]) in line


def test_a_case_that_the_lint_cannot_take_is_one_finding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    placed = load_placed(_suite(tmp_path, "a", "b"))

    def fails(case: Any) -> Iterator[Any]:
        if case.id == "c0":
            raise RecursionError("deep")
        yield from ()

    monkeypatch.setattr("qeval.suites.lint.limit_flaws", fails)
    (finding,) = lint([placed])
    assert (finding.case, finding.level) == ("c0", "error")
    assert "RecursionError: deep" in finding.text


def _schemas(folder: Path, schemas: list[Any]) -> Path:
    (folder / "schemas").mkdir()
    for number, schema in enumerate([*schemas, {"type": "integer"}]):
        (folder / "schemas" / f"s{number:02d}.json").write_text(json.dumps(schema))
    return folder / "schemas"


def test_schemas_that_cannot_be_used_are_dropped_from_an_import_with_their_reasons(tmp_path: Path):
    found = imported("jsonschemabench", _schemas(tmp_path, _REFUSED))
    assert (len(found.cases), dropped(found)) == (1, {"it cannot be a case": len(_REFUSED)})
    assert all("the schema cannot be used" in row.detail or "cannot be used" in row.detail for row in found.dropped)


def test_a_suite_with_schemas_that_cannot_be_used_ends_with_2_and_their_names(tmp_path: Path):
    path = tmp_path / "suite.jsonl"
    rows = [
        {"id": f"c{number}", "prompt": f"{number}?", "graders": [{"kind": "json_schema", "schema": schema}]}
        for number, schema in enumerate(_REFUSED[:5])
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    answer = tmp_path / "answer.txt"
    answer.write_text("1")
    for command in (("suites", "check", path), ("grade", f"{path}/c0", answer)):
        done = qeval_entry(*command)
        assert done.returncode == 2
        assert all(f"case 'c{number}'" in done.stderr for number in range(5))


@pytest.mark.parametrize("error", _ERRORS, ids=lambda error: type(error).__name__)
def test_a_row_that_an_importer_cannot_take_is_dropped_alone(
    tmp_path: Path, error: Exception, monkeypatch: pytest.MonkeyPatch
):
    whole = jsonschemabench._case

    def some(where: str, schema: dict[str, Any], path: Path) -> RawCase:
        if "bad" in schema:
            raise error
        return whole(where, schema, path)

    monkeypatch.setattr(jsonschemabench, "_case", some)
    found = imported("jsonschemabench", _schemas(tmp_path, [{"bad": 1}, {"type": "string"}]))
    assert (len(found.cases), dropped(found)) == (2, {"the row has another form than this importer reads": 1})
    assert type(error).__name__ in found.dropped[0].detail


@pytest.mark.parametrize("rows_before", [0, 2])
def test_a_source_that_cannot_be_read_on_is_told_with_the_row(rows_before: int, monkeypatch: pytest.MonkeyPatch):
    def rows() -> Iterator[RawCase | Dropped]:
        yield from (Dropped(f"row {number}", "of no use") for number in range(rows_before))
        raise TypeError("half a file")

    reading = Reading(rows(), description="y", max_new_tokens=1)
    monkeypatch.setattr(gsm8k, "read", lambda wanted: reading)
    with pytest.raises(UsageError, match=rf"source, after row {rows_before}: .*TypeError: half a file"):
        imported("gsm8k", "source")


def test_a_source_that_cannot_be_opened_is_told(monkeypatch: pytest.MonkeyPatch):
    def fails(_: object) -> Reading:
        raise AttributeError("no such thing")

    monkeypatch.setattr(gsm8k, "read", fails)
    with pytest.raises(UsageError, match=r"source: .*AttributeError: no such thing"):
        imported("gsm8k", "source")


_SHAPES: list[Any] = [None, 5, "x", [], {},
           [[]], [{}], [None], {"data": 5}, {"data": [5]}, {"data": [{"paragraphs": 5}]},
           {"data": [{"paragraphs": [5, {"context": "c", "qas": [5]}, {"context": "c", "qas": [{"answers": 5}]}]}]},
           {"question": [[5]], "function": [5]}, {"question": [[{"role": "user", "content": "a"}]], "function": [{}]},
           {"messages": 5}, {"messages": [5]}, {"request": {"messages": [{"role": 5}]}, "response": {"choices": [5]}},
           {"messages": [{"role": "user", "content": {"a": 1}}], "tools": [5]}, {"type": {"type": {}}},
           {"messages": [{"role": "user", "content": "a"}], "response_format": 5}]  # fmt: skip


@pytest.mark.parametrize("kind", ["bfcl", "gsm8k", "jsonschemabench", "openai-log", "xquad"])
def test_a_file_of_any_shape_is_read_or_refused(kind: str, tmp_path: Path):
    names = {"bfcl": "BFCL_v3_multiple.json", "xquad": "xquad.en.json", "jsonschemabench": "s.json"}
    path = tmp_path / names.get(kind, "rows.jsonl")
    for shape in _SHAPES:
        path.write_text(json.dumps(shape) + "\n")
        with suppress(UsageError):
            imported(kind, path)
