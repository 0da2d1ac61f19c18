"""The suite of the self-test: every pattern takes the right answer and no other, and every case stands alone."""

import re

import pytest
import regex

from qeval.selftest.cases import KINDS, generate, write_suite
from qeval.suites.load import load_suite


def owner(text):
    told = re.findall(r"(\w+) has the (\w+)\.", text)
    (asked,) = re.findall(r"Who has the (\w+)\?", text)
    return [(name, thing == asked) for name, thing in told]


def colour(text):
    told = re.findall(r"\w+ has an? (\w+) (\w+)\.", text)
    (asked,) = re.findall(r"What colour is the (\w+)\?", text)
    return [(f"It is {colour}.", thing == asked) for colour, thing in told]


def place(text):
    told = re.findall(r"[Tt]he (\w+)(?: is)? in the (\w+)", text)
    (asked,) = re.findall(r"Where is the (\w+)\?", text)
    return [(f"The {asked} is in the {where}.", thing == asked) for thing, where in told]


def code(text):
    told = text.removeprefix("Repeat this code: ")
    return [(told, True), (told[:-1], False), (told.replace("-", ""), False)]


def larger(text):
    one, other = (int(number) for number in re.findall(r"\d+", text))
    return [(f"The larger number is {one}.", one > other), (f"The larger number is {other}.", other > one)]


def letter(text):
    word = text.split()[5]
    return [
        (f"{word.title()} begins with {word[0].upper()}.", True),
        (f"{word.title()} begins with {word[1].upper()}.", word[1] == word[0]),
        (f"The word {word} is long.", False),
    ]


ANSWERS = {"owner": owner, "colour": colour, "place": place, "code": code, "larger": larger, "letter": letter}
CASES = generate(100)


@pytest.mark.parametrize("kind", KINDS)
def test_the_pattern_takes_the_right_answer_and_no_other(kind):
    mine = [case for case in CASES if case["tags"]["kind"] == kind]
    assert len(mine) == 100
    for case in mine:
        answers = ANSWERS[kind](case["messages"][-1]["content"])
        assert any(right for _, right in answers)
        for answer, right in answers:
            assert bool(regex.search(case["graders"][0]["pattern"], answer)) == right, (case, answer)


@pytest.mark.parametrize("kind", KINDS)
def test_the_example_is_answered_right(kind):
    example = KINDS[kind]
    right = [answer for answer, right in ANSWERS[kind](example.example) if right]
    assert any(answer.split()[-1].lower() in example.answer.lower() for answer in right)


def test_no_question_is_asked_twice_and_none_repeats_an_example():
    texts = [case["messages"][-1]["content"] for case in CASES] + [kind.example for kind in KINDS.values()]
    assert len(set(texts)) == len(texts)


def test_a_larger_suite_begins_with_the_cases_of_the_smaller_one():
    by_id = {case["id"]: case for case in CASES}
    assert all(by_id[case["id"]] == case for case in generate(27))


def test_the_suite_loads_and_each_case_is_a_cluster_of_its_own(tmp_path):
    suite = load_suite(write_suite(tmp_path / "suite", 100))
    assert len(suite.cases) == 600
    assert all(case.cluster is None for case in suite.cases)
