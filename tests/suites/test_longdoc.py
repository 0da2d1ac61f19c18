"""The suite `longdoc`: lengths, depths, shared documents, and questions that need more than one line."""

from __future__ import annotations

import re
from collections import Counter, defaultdict

from qeval.suites import Case
from qeval.suites.bank import read_bank
from qeval.suites.load import builtin_folder
from tests.suites.answers import passes
from tests.suites.test_builtin import generated, loaded

KINDS = {
    *("single", "choice", "lookup", "owner", "keys", "check", "compare", "rule", "update", "before"),
    *("chain", "deputy", "clause", "most", "count", "list", "several", "questions", "values", "absent"),
}
LONG = {"1k", "2k", "4k", "6k", "7k"}


def cases(size, *kinds: str):
    found = [case for case in loaded("longdoc", size).cases if not kinds or case.tags["kind"] in kinds]
    assert found
    return found


def tags_at_full() -> list[dict[str, str]]:
    return [case["tags"] for case in generated("longdoc", "full")]


def document(case: Case) -> str:
    return case.messages[1].content.rpartition("\n\n")[0]


def closest_line(case: Case) -> str:
    """Return the line that shares most words with the question: what copying without reading finds."""
    asked = set(re.findall(r"\w+", case.messages[-1].content.lower()))
    return max(document(case).split("\n"), key=lambda line: len(asked & set(re.findall(r"\w+", line.lower()))))


def test_every_kind_of_question_is_asked():
    assert {case.tags["kind"] for case in cases("standard")} == KINDS
    assert min(Counter(tags["kind"] for tags in tags_at_full()).values()) >= 10


def test_every_length_has_every_kind_of_document_and_every_depth():
    kinds, depths = defaultdict(set), defaultdict(set)
    for tags in tags_at_full():
        kinds[tags["length"]].add(tags["document"])
        depths[tags["length"]].add(tags["depth"])
    assert {len(found) for found in kinds.values()} == {7}
    assert {len(found - {"none"}) for found in depths.values()} == {5}


def test_documents_are_as_long_as_their_tag_says():
    for case in cases("standard"):
        wanted = float(case.tags["length"].removesuffix("k")) * 1000
        if wanted >= 500:
            assert 2.5 * wanted <= len(document(case)) <= 4.2 * wanted, case.id


def test_questions_about_a_document_share_all_but_the_last_turn():
    shared = defaultdict(set)
    for case in cases("standard"):
        shared[case.cluster].add(case.messages[:-1])
    assert {len(turns) for turns in shared.values()} == {1}
    assert min(Counter(case.cluster for case in cases("standard")).values()) >= 4


def test_copying_the_closest_line_answers_at_most_a_third():
    for size in ("smoke", "standard"):
        right = [passes(case, closest_line(case)) is True for case in cases(size)]
        assert sum(right) <= len(right) / 3


def test_some_line_answers_what_is_tagged_as_copied_and_none_what_asks_for_several_values():
    short = [case for case in cases("standard") if case.tags["length"] in {"0.5k", "1k"}]
    for case in short:
        if case.tags["copy"] == "yes" or case.tags["kind"] in {"values", "questions", "several"}:
            answered = any(passes(case, line) for line in document(case).split("\n"))
            assert answered == (case.tags["copy"] == "yes"), case.id


def test_the_last_line_decides_what_the_opening_clause_says():
    bank = read_bank(builtin_folder() / "longdoc" / "long.yaml")["kinds"]
    clauses = [clause for form in bank.values() for clause in form["clauses"]]
    first = {clause[1]: True for clause in clauses} | {clause[2]: False for clause in clauses}
    seen = set()
    for case in cases("standard", "clause"):
        lines = document(case).split("\n")
        value, other = case.graders[0]["value"], case.graders[1]["value"]
        opening = next(line for line in lines[:3] if value in line and other in line)
        assert (opening.index(value) < opening.index(other)) == first[lines[-1]], case.id
        assert passes(case, opening) is False
        seen.add(first[lines[-1]])
    assert seen == {True, False}


def test_of_two_statements_the_later_holds_and_the_earlier_can_be_asked_for():
    for case in cases("standard", "update", "before"):
        if case.graders[0]["kind"] == "contains":
            value, other = case.graders[0]["value"], case.graders[1]["value"]
            text = document(case)
            assert passes(case, value) is True
            assert passes(case, other) is False
            assert value in text
            assert other in text


def test_what_is_absent_is_not_there_though_its_like_is():
    things = [
        case for case in cases("standard", "absent") if re.match(r"How many \w+ are there\?", case.messages[-1].content)
    ]
    assert {case.tags["length"] for case in things} <= LONG
    assert len(things) >= 5
    for case in things:
        thing = case.messages[-1].content.split()[2]
        assert thing not in document(case)
        assert passes(case, "not stated") is True


def test_keys_look_alike_and_each_has_its_own_value():
    for case in cases("standard", "keys"):
        (key,) = re.findall(r"\b[BDP]\d\d\b", case.messages[-1].content)
        text = document(case)
        assert key in text
        assert len(set(re.findall(r"\b[BDP](?:14|41|17|71)\b", text))) >= 8


def test_new_facts_stand_in_long_documents_only():
    kinds = {"clause", "keys", "values", "questions", "before", "deputy"}
    assert {tags["length"] for tags in tags_at_full() if tags["kind"] in kinds} == LONG
