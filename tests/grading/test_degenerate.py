"""Broken output is called so and passes nothing; what repeats for a reason is not called so."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qeval.chat import Message
from qeval.grading import Question, grade_outcome, grader_kinds
from qeval.grading._asked import Asked
from qeval.grading._degenerate import why_degenerate
from qeval.outcome import Grade, Outcome
from qeval.suites import Case
from qeval.suites.answers import grade_case
from tests.grading.case_files import SHARED, named
from tests.grading.degenerate_files import IN_THE_RULE, graded, is_degenerate, read
from tests.grading.hostile import TEXTS
from tests.grading.natural_texts import called_degenerate, natural_texts

_DATA = SHARED / "data"
_PASSES_A_LOOP: list[dict[str, Any]] = [
    {"kind": "contains", "value": "Oslo"},
    {"kind": "exact", "values": ["Bergen"]},
    {"kind": "json_schema", "schema": {}},
    {"kind": "judge", "rubric": "names a city", "required": True},
    {"kind": "language", "lang": "ja"},
    {"kind": "not_contains", "value": "Bergen"},
    {"kind": "number", "value": 7},
    {"kind": "refusal", "expect": "comply"},
    {"kind": "regex", "pattern": "^Oslo"},
    {"kind": "tool_call", "calls": []},
]
_LOOP = "Oslo, on the 7 hills. " + "The city is known for its parks. " * 12
_JAPANESE = "東京はとても大きな都市です。" * 12
"""Told by its script, so that no model of languages is loaded."""


# All rows of a file in one test, since there are hundreds.
def test_a_row_is_graded_as_it_says():
    wrong = [
        (row["id"], named(grade), grade.reason) for row in read("grades") if named(grade := _first(row)) != row["grade"]
    ]
    assert wrong == []


def test_broken_output_is_degenerate():
    rows = list(read("broken"))
    assert len(rows) >= 150
    assert [row["id"] for row in rows if not is_degenerate(row)] == []


def test_what_repeats_for_a_reason_is_not_degenerate():
    rows = list(read("sound"))
    assert len(rows) >= 150
    assert len({row["lang"] for row in rows}) >= 12
    assert [(row["id"], _first(row).reason) for row in rows if is_degenerate(row)] == []


def test_loops_of_the_embedded_model_are_degenerate():
    rows = list(read("embedded_model"))
    told = {(row["kind"] in IN_THE_RULE, is_degenerate(row), row["id"]) for row in rows}
    assert sorted(row for row in told if row[0] != row[1]) == []
    assert {row["kind"] for row in rows} > IN_THE_RULE


def _first(row: dict[str, Any]) -> Grade:
    return graded(row).grades[0]


def test_the_list_of_graders_that_see_a_loop_is_whole():
    assert sorted(spec["kind"] for spec in _PASSES_A_LOOP) == list(grader_kinds())


@pytest.mark.parametrize("spec", _PASSES_A_LOOP, ids=lambda spec: spec["kind"])
def test_a_degenerate_answer_passes_no_grader(spec: dict[str, Any]):
    outcome = graded({"text": _JAPANESE if spec["kind"] == "language" else _LOOP, "lang": "en", "grader": spec})
    assert (outcome.failure, outcome.passed()) == ("degenerate", False)
    assert not any(grade.score for grade in outcome.grades)


def test_what_the_grader_found_stands_in_the_reason():
    (grade,) = graded({"text": _LOOP, "lang": "en", "grader": {"kind": "contains", "value": "Oslo"}}).grades
    assert grade.reason == "the answer ends in 'The city is known for its parks.' 12 times (else: pass)"


def test_a_grade_beside_the_pass_is_the_graders_own():
    row = {"text": '{"a": "' + "no " * 60 + '"}', "lang": "en", "grader": {"kind": "json_schema", "schema": {}}}
    metrics = {grade.metric: grade.status for grade in graded(row).grades}
    assert metrics == {"schema_valid": "fail", "strict_json": "pass"}


def test_degenerate_is_named_rather_than_truncated():
    assert graded({"text": _LOOP, "lang": "en", "finish": "length"}).failure == "degenerate"


@pytest.mark.parametrize(("finish", "failure"), [("length", "truncated"), ("stop", None)])
def test_the_rule_as_it_is_decides_of_stored_outcomes(finish: Any, failure: str | None):
    stored = Outcome(suite="s", case="c", batch=0, status="answered", text="Oslo.", finish=finish, failure="degenerate")
    assert grade_outcome(stored, [{"kind": "contains", "value": "Oslo"}], Question()).failure == failure


@pytest.mark.parametrize(("asked", "failure"), [("20", None), ("12", "degenerate")])
def test_a_case_may_ask_for_a_line_many_times(asked: str, failure: str | None):
    grader = {"kind": "refusal", "expect": "comply"}
    said = Message(role="user", content=f"Write 'I will not talk.' {asked} times.")
    case = Case(id="c", messages=(said,), graders=(grader,))
    outcome = Outcome(suite="s", case="c", batch=0, status="answered", text="I will not talk. " * 20, finish="stop")
    assert grade_case(outcome, case).failure == failure


_UNITS = st.text(st.characters(categories=["L", "M", "P", "Zs"]), min_size=2, max_size=300).filter(
    lambda unit: len(set(unit)) > 1 and unit.strip(" .!?") != "" and any(letter.isalpha() for letter in unit)
)


@settings(max_examples=100)
@given(unit=_UNITS, start=st.sampled_from(["", "The answer is no. ", "你好，", "مرحبا، "]), turns=st.integers(4, 40))
def test_any_unit_repeated_to_the_limit_is_degenerate(unit: str, start: str, turns: int):
    text = start + unit * max(turns, 24 // len(unit.strip()) + 2)
    assert is_degenerate({"text": text, "lang": "en", "finish": "length"})


@pytest.mark.parametrize("name", TEXTS)
def test_a_hostile_answer_is_decided(name: str):
    why = why_degenerate(TEXTS[name], cut=True, asked=Asked((TEXTS[name][:99],), TEXTS[name][-99:]))
    assert why is None or why.encode()


@pytest.mark.skipif(not _DATA.exists(), reason="the public data do not lie beside this checkout")
def test_at_most_one_natural_text_in_1000_is_called_degenerate():
    texts = natural_texts(_DATA)
    assert len(texts) > 18_000
    called = called_degenerate(_DATA)
    assert len(called) <= len(texts) / 1000, called
