"""The suite `schema`: every feature of JSON Schema that it promises, validity and fields apart."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from qeval.grading import Question, grade_outcome
from qeval.outcome import Outcome
from tests.suites.answers import passes, right_answer
from tests.suites.test_builtin import loaded

KINDS = {
    *("one", "two", "three", "list", "nested", "date", "flag", "missing"),
    *("objects", "map", "deep", "enum", "const", "pattern", "bounds", "oneof", "recursive", "formats"),
}


def of_kind(*kinds: str):
    found = [case for case in loaded("schema", "standard").cases if case.tags["kind"] in kinds]
    assert found
    return found


def keywords(schema: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(schema, dict):
        for key, inner in schema.items():
            yield key, inner
            yield from keywords(inner)
    elif isinstance(schema, list):
        for inner in schema:
            yield from keywords(inner)


def grades(case, answer: Any):
    outcome = Outcome(suite="schema", case=case.id, batch=0, status="answered", text=json.dumps(answer), finish="stop")
    graded = grade_outcome(outcome, case.graders, Question("en"))
    return {grade.metric: grade for grade in graded.grades}


def test_standard_asks_every_kind_often_enough_to_read_its_slice():
    kinds = Counter(case.tags["kind"] for case in loaded("schema", "standard").cases)
    assert set(kinds) == KINDS
    assert min(kinds.values()) >= 10


def test_the_schemas_use_what_the_readme_says():
    found = [pair for case in loaded("schema", "standard").cases for pair in keywords(case.response_schema)]
    names = {name for name, _ in found}
    assert {"enum", "const", "pattern", "oneOf", "anyOf", "$ref", "additionalProperties", "items"} <= names
    assert {"minimum", "maximum", "exclusiveMaximum", "minItems", "maxItems", "minLength", "maxLength"} <= names
    formats = {value for name, value in found if name == "format"}
    assert formats == {"date", "time", "date-time", "email", "uri", "uuid"}


@pytest.mark.parametrize("size", ["smoke", "standard"])
def test_repeating_the_example_is_never_right(size):
    for case in loaded("schema", size).cases:
        (example,) = (message.content for message in case.messages if message.role == "assistant")
        assert passes(case, example) is False, case.id


def test_the_example_follows_the_schema():
    for case in of_kind(*KINDS - {"missing"}):
        (example,) = (message.content for message in case.messages if message.role == "assistant")
        assert grades(case, json.loads(example))["schema_valid"].status == "pass", case.id


def test_one_wrong_value_leaves_the_answer_valid_and_the_other_fields_right():
    for case in of_kind("deep"):
        answer = json.loads(right_answer(case))
        path = next(key for key in case.graders[0]["expect"] if key.startswith("/"))
        *steps, last = path.split("/")[1:]
        place = answer
        for step in steps:
            place = place[step]
        place[last] = "something else"
        found = grades(case, answer)
        n_fields = len(case.graders[0]["expect"])
        assert found["schema_valid"].status == "pass"
        assert found["fields"].score == pytest.approx(1 - 1 / n_fields)


def test_an_object_too_many_in_a_list_is_wrong():
    for case in of_kind("objects"):
        assert any(key.count("/") == 3 for key in case.graders[0]["expect"]), case.id
        answer = json.loads(right_answer(case))
        (items,) = (value for value in answer.values() if isinstance(value, list))
        items.append(items[-1])
        assert grades(case, answer)["schema_valid"].status == "pass"
        assert grades(case, answer)["fields"].status == "fail"


def test_a_code_in_the_form_of_the_text_breaks_its_pattern():
    for case in of_kind("pattern"):
        answer = json.loads(right_answer(case))
        copied = {key: value.lower() if value.isupper() else value for key, value in answer.items()}
        assert copied == answer or grades(case, copied)["schema_valid"].status == "fail", case.id


def test_frost_without_its_sign_breaks_its_bound():
    frosts = [case for case in of_kind("bounds") if "celsius" in case.graders[0]["expect"]]
    assert frosts
    for case in frosts:
        answer = json.loads(right_answer(case))
        assert grades(case, {**answer, "celsius": -answer["celsius"]})["schema_valid"].status == "fail"


def test_a_choice_of_shapes_is_shown_with_another_shape_or_text():
    for case in of_kind("oneof", "recursive"):
        (example,) = (json.loads(message.content) for message in case.messages if message.role == "assistant")
        assert _form(example) != _form(json.loads(right_answer(case))), case.id


def test_depths_reach_from_flat_to_four_and_more():
    assert {case.tags["depth"] for case in loaded("schema", "standard").cases} == {"1", "2", "3", "4+"}


def test_a_larger_size_begins_with_the_smaller_ones():
    assert loaded("schema", "standard").cases[:32] == loaded("schema", "smoke").cases


def _form(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _form(inner) for key, inner in value.items() if key not in {"error"}} or value
    return [_form(inner) for inner in value] if isinstance(value, list) else value is None
