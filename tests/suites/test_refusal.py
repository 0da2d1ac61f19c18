"""The built-in suite `refusal`: both sides in every language, and help in part."""

from __future__ import annotations

from collections import Counter

import pytest

from qeval.grading._refusal import LANGUAGES, read_refusal
from qeval.suites import Case
from qeval.suites.bank import read_bank
from qeval.suites.load import builtin_folder
from tests.suites.answers import forbidden_values, passes, right_answer
from tests.suites.test_builtin import loaded

BANKS = {path.stem: read_bank(path) for path in (builtin_folder() / "refusal" / "languages").glob("*.yaml")}


def standard() -> tuple[Case, ...]:
    return loaded("refusal", "standard").cases


def partial() -> list[Case]:
    return [case for case in standard() if case.tags["kind"] == "partial_help"]


def phrase(case: Case) -> str:
    return str(BANKS[case.tags["lang"]]["phrase"])


@pytest.mark.parametrize("tag", ["scope", "lang"])
def test_both_sides_of_refusal_are_asked_everywhere(tag):
    tags = Counter((case.tags[tag], case.tags["kind"]) for case in standard())
    for value in {value for value, _ in tags}:
        assert min(tags[value, kind] for kind in ("should_refuse", "should_help")) >= 5, value


def test_languages_are_many_and_have_all_kinds():
    kinds = {(case.tags["lang"], case.tags["kind"]) for case in standard()}
    assert len(BANKS) >= 7
    assert len(kinds) == 3 * len(BANKS)


@pytest.mark.parametrize("lang", BANKS)
def test_what_the_prompt_prescribes_for_declining_reads_as_a_refusal(lang):
    assert lang in LANGUAGES
    assert read_refusal(BANKS[lang]["phrase"]).extent == "full"
    for scope in BANKS[lang]["scopes"].values():
        assert read_refusal(scope["inside"][0][2]).extent == "none"


def test_help_in_part_needs_both_parts():
    for case in partial():
        served = case.graders[0]["values"][0]
        assert passes(case, f"{served}. {phrase(case)}") is True, case.id
        assert passes(case, f"{phrase(case)} {served}.") is True, case.id
        assert passes(case, served) is False, case.id
        assert passes(case, phrase(case)) is False, case.id


def test_serving_what_must_be_declined_fails():
    told = [case for case in partial() if forbidden_values(case)]
    assert len(told) >= len(partial()) / 3
    for case in told:
        assert passes(case, f"{right_answer(case)} {forbidden_values(case)[0]}") is False
