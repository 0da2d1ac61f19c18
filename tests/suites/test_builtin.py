"""The built-in suites at every size: how many, how varied, the same everywhere, and graded right."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from qeval.jsonl import dumps
from qeval.suites import SIZES, Case, Size, Suite, list_suites, load_suite
from qeval.suites.load import _generate_function
from tests.suites.answers import passes, right_answer, wrong_answer

NAMES = ("longdoc", "multilingual", "rare", "refusal", "schema", "toolcalls")
LEAST_CASES = {"standard": 300, "full": 1000}
FEW_AT_SMOKE = {"rare": 16}
"""Suites whose cases at smoke are fewer, since what they hold is dear or seldom."""
LEAST_CLUSTERS = {"smoke": 12, "standard": 40, "full": 100}
DIGESTS = Path(__file__).with_name("digests.json")
"""sha256 of what each generator gives; after a wanted change (raise the suite's version): `python -m
tests.suites.test_builtin`."""


@cache
def generated(name: str, size: str) -> list[dict[str, Any]]:
    entry = next(entry for entry in list_suites() if entry.name == name)
    generate = _generate_function(entry.folder / str(entry.header.generator), name)
    cases: list[dict[str, Any]] = generate(size, entry.header.seed)
    return cases


@cache
def loaded(name: str, size: Size) -> Suite:
    return load_suite(name, size)


def digests() -> dict[str, str]:
    return {
        f"{name}/{size}": hashlib.sha256(dumps(generated(name, size)).encode()).hexdigest()
        for name in NAMES
        for size in SIZES
    }


@pytest.fixture(params=[(name, size) for name in NAMES for size in SIZES], ids=lambda part: "-".join(part))
def cases(request: pytest.FixtureRequest) -> list[dict[str, Any]]:
    return generated(*request.param)


def test_the_six_suites_are_listed_with_headers_of_their_own_name():
    entries = list_suites()
    assert tuple(entry.name for entry in entries) == NAMES
    assert all(entry.header.name == entry.name for entry in entries)


@pytest.mark.parametrize("name", NAMES)
def test_a_suite_says_what_it_stands_for(name):
    readme = (next(entry.folder for entry in list_suites() if entry.name == name) / "README.md").read_text("utf-8")
    assert all(part in readme for part in ("stands for", "Kinds", "Tags", "Measured", "clusters"))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("size", SIZES)
def test_a_suite_is_large_enough_and_spread_over_clusters(name, size):
    cases = generated(name, size)
    assert len(cases) >= (FEW_AT_SMOKE.get(name, 32) if size == "smoke" else LEAST_CASES[size])
    clusters = Counter(case["cluster"] for case in cases)
    assert len(clusters) >= LEAST_CLUSTERS[size]
    assert max(clusters.values()) <= len(cases) / 10


def test_smoke_holds_enough_cases_to_resolve_two_points_over_all():
    assert sum(len(generated(name, "smoke")) for name in NAMES) >= 160


def test_ids_are_unique(cases):
    assert len({case["id"] for case in cases}) == len(cases)


def test_no_two_cases_ask_the_same(cases):
    asked = Counter(dumps([case["messages"], case.get("tools")]) for case in cases)
    assert asked.most_common(1)[0][1] == 1


def test_every_case_has_the_tags_that_slices_are_made_of(cases):
    keys = {frozenset(case["tags"]) for case in cases}
    assert len(keys) == 1
    assert {"kind", "lang", "difficulty", "copy"} <= keys.pop()
    assert {case["tags"]["difficulty"] for case in cases} <= {"easy", "medium", "hard"}


def test_at_most_a_third_is_solved_by_copying_one_line(cases):
    assert sum(case["tags"]["copy"] == "yes" for case in cases) <= len(cases) / 3


def test_at_least_a_fifth_is_hard(cases):
    assert sum(case["tags"]["difficulty"] == "hard" for case in cases) >= len(cases) / 5


def test_answers_are_short_enough_for_a_quick_run(cases):
    most = 72 if cases in [generated(name, "smoke") for name in NAMES] else 96
    assert max(case.get("max_new_tokens", 48) for case in cases) <= most


def test_generators_give_what_they_gave_on_the_machine_that_wrote_the_digests():
    assert digests() == json.loads(DIGESTS.read_text("utf-8"))


@pytest.mark.parametrize("name", NAMES)
def test_a_second_load_has_the_same_digest(name):
    assert load_suite(name, "smoke").digest == loaded(name, "smoke").digest


def check_graders(cases: tuple[Case, ...]) -> None:
    assert [case.id for case in cases if passes(case, right_answer(case)) is not True] == []
    assert [case.id for case in cases if passes(case, wrong_answer(case)) is not False] == []


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("size", ["smoke", "standard", pytest.param("full", marks=pytest.mark.slow)])
def test_the_right_answer_passes_and_a_wrong_one_fails(name, size):
    check_graders(loaded(name, size).cases)


@pytest.mark.parametrize("name", NAMES)
def test_the_prompt_does_not_end_with_the_answer_to_a_question_of_the_same_text(name):
    """An example turn must not be the question itself."""
    for case in loaded(name, "smoke").cases:
        asked = case.messages[-1].content
        earlier = [message.content for message in case.messages[:-1] if message.role == "user"]
        assert asked not in earlier, case.id


def test_documents_come_in_several_lengths_and_depths():
    tags = [case["tags"] for case in generated("longdoc", "standard")]
    assert {tag["length"] for tag in tags} == {"0.2k", "0.5k", "1k", "2k", "4k", "6k", "7k"}
    assert {"0-20%", "20-40%", "40-60%", "60-80%", "80-100%", "none"} == {tag["depth"] for tag in tags}
    assert len({tag["document"] for tag in tags}) == 7


if __name__ == "__main__":
    DIGESTS.write_text(dumps(digests(), indent=2) + "\n", encoding="utf-8")
