"""The built-in suite `multilingual`: its spread over languages, and what its graders tell apart."""

from __future__ import annotations

from collections import Counter

from qeval.suites import Case
from tests.suites.answers import SENTENCES, forbidden_values, passes
from tests.suites.test_builtin import generated, loaded

RIGHT_TO_LEFT, SPACELESS = {"ar", "he", "fa"}, {"zh", "ja", "th"}
COMBINING = {"hi", "bn", "ta", "th"}


def standard() -> tuple[Case, ...]:
    return loaded("multilingual", "standard").cases


def of_kind(*kinds: str) -> list[Case]:
    return [case for case in standard() if case.tags["kind"] in kinds]


def test_languages_and_scripts_are_many_at_every_size():
    for size in ("smoke", "standard"):
        tags = [case["tags"] for case in generated("multilingual", size)]
        languages = {tag["lang"] for tag in tags}
        assert len(languages) >= 16
        assert len({tag["script"] for tag in tags}) >= 8
        assert languages >= RIGHT_TO_LEFT | SPACELESS | COMBINING | {"ko", "el", "ru"}


def test_every_language_has_as_many_cases_and_all_kinds_in_the_end():
    counts = Counter(case.tags["lang"] for case in standard())
    assert min(counts.values()) == max(counts.values()) == 20
    pairs = {(case["tags"]["lang"], case["tags"]["kind"]) for case in generated("multilingual", "full")}
    assert len(pairs) == len(counts) * len({kind for _, kind in pairs})


def test_language_fidelity_is_a_metric_of_its_own_in_every_language():
    asked = {case.tags["lang"] for case in standard() if any(grader["kind"] == "language" for grader in case.graders)}
    assert asked == set(SENTENCES)


def test_what_stands_in_the_prompt_is_no_answer():
    """A number or date given back as it came was not rewritten."""
    cases = of_kind("number_read", "number_write", "date_read")
    assert len({case.tags["lang"] for case in cases}) >= 16
    assert [case.id for case in cases if passes(case, case.messages[-1].content) is not False] == []


def test_a_reply_in_another_language_fails():
    other = {"fr": "de", "fa": "ar", "ar": "fa"}
    for case in of_kind("reply"):
        lang = case.tags["lang"]
        assert passes(case, SENTENCES[lang]) is True, case.id
        assert passes(case, SENTENCES[other.get(lang, "fr")]) is False, case.id


def test_a_longer_word_that_holds_the_right_one_fails():
    """In Thai, bread holds the letters of milk."""
    kinds = {"extract", "cross", "switch", "next_day"}
    made = [Case(**case) for case in generated("multilingual", "full") if case["tags"]["kind"] in kinds]
    cases = [case for case in made if forbidden_values(case)]
    assert cases
    for case in cases:
        assert case.graders[0]["value"] in forbidden_values(case)[0]
        assert passes(case, forbidden_values(case)[0]) is False


def test_copies_are_only_what_a_line_of_the_text_answers():
    for case in standard():
        if case.tags["copy"] == "yes":
            value = str(case.graders[0]["value"])
            assert value in case.messages[-1].content, case.id
