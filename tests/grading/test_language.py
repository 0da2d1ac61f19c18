"""The tables of languages hold, and the script of an answer decides at any length."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qeval.grading import Answer, Question, check_grader
from qeval.grading._identify import _model, other_language
from qeval.grading._languages import close_to, known_languages, target, telling_words, variety_of
from qeval.grading._scripts import count_letters, prose, script_of, without_names
from qeval.grading.base import find_grader
from qeval.outcome import Grade

_WORDS = {
    "Latin": "word", "Cyrillic": "слово", "Greek": "λέξη", "Arabic": "كلمة", "Hebrew": "מילה", "Devanagari": "शब्द",
    "Bengali": "শব্দ", "Tamil": "சொல்", "Thai": "คำพูด", "Hangul": "단어", "Han": "词语", "Georgian": "სიტყვა",
    "Armenian": "բառը", "Khmer": "ពាក្យ", "Myanmar": "စကား", "Ethiopic": "ቃላት",
}  # fmt: skip
"""A word in each of many scripts."""


def _grade(language: str, text: str) -> Grade:
    kind, options = check_grader({"kind": "language", "lang": language}, "x")
    return find_grader(kind).grade(options, Answer(text), Question(language))[0]


@settings(max_examples=60)
@given(
    language=st.sampled_from(sorted(known_languages())),
    script=st.sampled_from(sorted(_WORDS)),
    times=st.sampled_from([2, 3, 7, 100, 2_000]),
    mark=st.sampled_from([" ", ", ", "\n", "! "]),
)
def test_an_answer_in_another_script_fails_at_any_length(language: str, script: str, times: int, mark: str):
    text = mark.join([_WORDS[script]] * times)
    grade = _grade(language, text)
    assert (script in target(language).scripts) or grade.fault == "wrong_language"


@pytest.mark.parametrize("language", sorted(known_languages()))
def test_every_language_has_a_script_known_here(language: str):
    assert target(language).scripts
    assert all(script_of(_WORDS[script][0]) == script for script in target(language).scripts & _WORDS.keys())


def test_the_model_knows_every_language_that_is_told_by_it():
    known = {variety_of(label) for label in _model().labels}
    told = {language for language in known_languages() if target(language).told}
    assert told <= known


def test_no_word_tells_for_two_sides():
    for language in ("id", "hr"):
        assert len(close_to(language)) > 1
        sides = list(telling_words(language).values())
        assert sum(map(len, sides)) == len(frozenset().union(*sides))


@pytest.mark.parametrize(
    ("language", "text", "most"),
    [
        (
            "de",
            "Das Wetter ist heute schön, und wir gehen gleich in den Park. " * 3 + "I do not like it at all, sorry.",
            0.25,
        ),
        ("ja", "今日は天気がいいので公園に行きます。" * 3 + "We are going to the park because it is nice.", 0.25),
    ],
    ids=["german", "japanese"],
)
def test_the_score_is_the_share_in_the_language(language: str, text: str, most: float):
    grade = _grade(language, text)
    assert grade.status == "pass"
    assert grade.score is not None
    assert 1 - most <= grade.score < 1


def test_an_answer_that_changes_its_language_late_fails():
    text = "Das Wetter ist heute schön, und wir gehen gleich in den Park.\n" * 400
    assert _grade("de", text).status == "pass"
    assert _grade("de", f"{text}{'It is raining, so we stay at home and read.' * 5_000}").fault == "wrong_language"


def test_what_is_in_no_language_does_not_count():
    text = (
        "Das gilt für `list(map(str, items))` und $x_{max} = y$, siehe https://example.org/the/path und <div class='a'>"
    )
    assert count_letters(prose(text)).keys() == {"Latin"}
    assert "example" not in prose(text)
    assert "items" not in prose(text)


@given(
    names=st.lists(
        st.sampled_from(["Tokyo Tower", "iPhone", "NASA", "pip", "Lord of the Rings"]), min_size=1, max_size=5
    )
)
def test_names_in_latin_letters_do_not_count(names: list[str]):
    text = "、".join(names)
    assert count_letters(without_names(f"これは{text}です")[0]).keys() == {"Hiragana"}


@pytest.mark.parametrize("language", ["sr", "bs", "hr"])
def test_twins_for_the_model_are_not_held_against_each_other(language: str):
    for text in ("Danas je lijepo vrijeme i idemo u park s djecom.", "Danas je lepo vreme i idemo u park sa decom."):
        assert other_language(text, target(language), 0.0) not in close_to(language)
