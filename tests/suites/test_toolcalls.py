"""The suite `toolcalls`: every kind that the README names, and golds that nothing but the right calls gives."""

from __future__ import annotations

import json
import re
from collections import Counter

import pytest

from qeval.grading._schema import violations
from qeval.jsonl import dumps
from tests.suites.answers import passes
from tests.suites.test_builtin import loaded

SIZES_SHOWN = ["smoke", "standard"]
KINDS = {
    *("fill", "choose", "none", "many", "parallel", "ask", "result"),
    *("toolbox", "catalogue", "nested", "array", "optional", "enum", "null", "numbers", "dotted", "script"),
    *("same", "ordered", "unserved", "best", "follow"),
}
FOREIGN = "\u0370"
"""The first letter after the Latin ones and their marks."""


def of_kind(*kinds: str):
    found = [case for case in loaded("toolcalls", "standard").cases if case.tags["kind"] in kinds]
    assert found
    return found


def call_of(case):
    (call,) = case.graders[0]["calls"]
    return call


def test_standard_asks_every_kind_often_enough_to_read_its_slice():
    kinds = Counter(case.tags["kind"] for case in loaded("toolcalls", "standard").cases)
    assert set(kinds) == KINDS
    assert min(kinds.values()) >= 10


def test_the_tag_tools_says_how_many_are_on_offer():
    found = {(case.tags["tools"], len(case.tools)) for case in loaded("toolcalls", "standard").cases}
    bins = {"1": (1, 1), "2-3": (2, 3), "4-9": (4, 9), "10-30": (10, 30)}
    assert {tag for tag, _ in found} == set(bins)
    assert all(bins[tag][0] <= number <= bins[tag][1] for tag, number in found)
    assert max(number for _, number in found) > 20


@pytest.mark.parametrize("size", SIZES_SHOWN)
def test_every_expected_call_is_of_a_tool_on_offer_and_follows_its_schema(size):
    for case in loaded("toolcalls", size).cases:
        schemas = {tool.name: dumps(tool.parameters) for tool in case.tools}
        for call in case.graders[0]["calls"]:
            assert violations(schemas[call["name"]], call["arguments"]) == [], case.id


@pytest.mark.parametrize("size", SIZES_SHOWN)
def test_repeating_an_example_is_never_right(size):
    for case in loaded("toolcalls", size).cases:
        for message in case.messages:
            if message.role == "assistant" and case.graders[0]["calls"]:
                said = message.content or json.dumps([call.model_dump() for call in message.tool_calls])
                assert passes(case, said) is False, case.id


def test_a_missing_argument_is_asked_for():
    for case in of_kind("ask"):
        assert passes(case, "Which one, please?") is True
        assert passes(case, "I will do that.") is False
        assert passes(case, json.dumps({"name": case.tools[0].name, "arguments": {}}) + " ?") is False


def test_a_result_that_came_back_is_what_the_answer_rests_on():
    for case in of_kind("result", "best", "follow"):
        last, earlier = case.messages[-1], [m.content for m in case.messages[:-1] if m.role == "assistant"]
        assert last.role == "tool"
        assert case.messages[-2].tool_calls[0].name == last.name
        if case.tags["kind"] == "follow":
            assert any(str(value) in last.content for value in call_of(case)["arguments"].values())
        else:
            assert case.graders[1]["value"] in last.content
            assert [text for text in earlier if text and passes(case, text)] == []
        assert passes(case, "Let me see.") is False


def test_the_best_of_several_rows_is_what_the_question_asks_for_and_may_stand_anywhere():
    places = set()
    for case in of_kind("best"):
        rows = json.loads(case.messages[-1].content)
        (asked,) = (message.content for message in case.messages[-3:] if message.role == "user")
        numbers = [next(value for value in row.values() if not isinstance(value, str)) for row in rows]
        wanted = max(numbers) if re.search("best|longest", asked) else min(numbers)
        place = numbers.index(wanted)
        assert case.graders[1]["value"] in rows[place].values(), case.id
        places.add(place)
    assert len(places) > 1


def test_ordered_calls_must_come_in_their_order():
    for case in of_kind("ordered"):
        calls = case.graders[0]["calls"]
        assert passes(case, json.dumps(calls)) is True
        assert passes(case, json.dumps(calls[::-1])) is False
        later, before, sooner = case.messages[-1].content.partition("But before that: ")
        if before:
            assert all(str(value) in sooner for value in calls[0]["arguments"].values()), case.id
            assert all(str(value) in later for value in calls[1]["arguments"].values()), case.id
    texts = [case.messages[-1].content for case in of_kind("ordered")]
    assert len({"before that" in text for text in texts}) == 2


def test_two_calls_of_one_tool_are_both_needed():
    for case in of_kind("same"):
        first, second = case.graders[0]["calls"]
        assert first["name"] == second["name"]
        assert passes(case, json.dumps([first, first])) is False


def test_nothing_is_added_that_was_not_asked_for():
    short = [case for case in of_kind("optional") if set(_declared(case)) - set(call_of(case)["arguments"])]
    assert short
    for case in short:
        call = call_of(case)
        (name, *_) = set(_declared(case)) - set(call["arguments"])
        value = {"string": "Oslo", "integer": 3, "boolean": True}[_declared(case)[name]["type"]]
        assert passes(case, json.dumps({**call, "arguments": {**call["arguments"], name: value}})) is False


def test_null_must_be_said():
    nulls = [case for case in of_kind("null") if None in call_of(case)["arguments"].values()]
    assert nulls
    for case in nulls:
        call = call_of(case)
        given = {key: value for key, value in call["arguments"].items() if value is not None}
        assert passes(case, json.dumps({**call, "arguments": given})) is False


def test_numbers_are_numbers_and_postcodes_are_not():
    for case in of_kind("numbers"):
        call = call_of(case)
        swapped = {
            key: int(value) if str(value).isdecimal() and isinstance(value, str) else str(value)
            for key, value in call["arguments"].items()
        }
        assert passes(case, json.dumps({**call, "arguments": swapped})) is False


def test_names_with_dots_and_other_scripts_are_there_as_they_are():
    assert all("." in call_of(case)["name"] for case in of_kind("dotted"))
    texts = [dumps(call_of(case)["arguments"]) for case in of_kind("script")]
    assert sum(max(text) >= FOREIGN for text in texts) > len(texts) / 2
    assert all("\\u" not in message.content for case in of_kind("script") for message in case.messages)


def test_what_no_tool_serves_is_answered_in_words():
    for case in of_kind("unserved", "none"):
        assert case.graders[0]["calls"] == []
        assert passes(case, json.dumps({"name": case.tools[0].name, "arguments": {}})) is False


def test_a_larger_size_begins_with_the_smaller_ones():
    assert loaded("toolcalls", "standard").cases[:32] == loaded("toolcalls", "smoke").cases


def _declared(case):
    (tool,) = (tool for tool in case.tools if tool.name == call_of(case)["name"])
    return tool.parameters["properties"]
