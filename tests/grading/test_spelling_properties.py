"""The normal form does not change with what cannot be seen, and variants are the same whichever side writes them."""

from __future__ import annotations

import unicodedata
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
import regex
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from qeval.grading import _spelling
from qeval.grading._spelling import alike, pattern, plain_form
from qeval.grading._text import answer_form, edges, fold, holds

_TABLE: dict[str, Any] = yaml.safe_load(Path(_spelling.__file__).with_name("spelling.yaml").read_text("utf-8"))
_LANGUAGES = [None, *sorted({name for part in ("same", "plain", "kept_apart") for name in _TABLE[part]} - {"any"})]
_LETTERS = st.sampled_from(
    list("aåßœоеёіабљlj1½³ أإآاىيیکك हँंज़न्दक़ বৎত্ กำนเแ้่ํ ລເ້ໍ アあーヴ한글 òáaúy–-・· ׳״.,'\u200d\u200b\ufe0f")
)
_TEXTS = st.lists(_LETTERS, max_size=12).map("".join)
_INVISIBLE = st.sampled_from("\u200b\u200e\u2060\u00ad\ufe0f\ufe00\u034f\U000e0061\U000e0100\ufeff")


@settings(max_examples=80)
@given(text=_TEXTS, language=st.sampled_from(_LANGUAGES))
def test_the_normal_form_is_its_own_normal_form(text: str, language: str | None):
    folded = fold(text, language)
    assert fold(folded, language) == folded
    assert plain_form(plain_form(folded, language), language) == plain_form(folded, language)


@settings(max_examples=80)
@given(text=_TEXTS, language=st.sampled_from(_LANGUAGES))
def test_composed_and_decomposed_text_have_one_form(text: str, language: str | None):
    assert fold(unicodedata.normalize("NFD", text), language) == fold(unicodedata.normalize("NFC", text), language)


@given(text=st.text("abc déß ик 日本カ", min_size=1, max_size=8), mark=_INVISIBLE, language=st.sampled_from(_LANGUAGES))
def test_an_invisible_character_changes_nothing(text: str, mark: str, language: str | None):
    assert fold(mark.join(text), language) == fold(text, language)


@pytest.mark.parametrize("syllable", ["ที่", "น้ำ", "รู้", "ດີ້", "ນ້ຳ", "ក៏ុ", "ို့"])
def test_the_order_of_marks_over_a_letter_does_not_count(syllable: str):
    base, *marks = list(unicodedata.normalize("NFKC", syllable))
    rest = "".join(mark for mark in marks if not regex.match(r"\p{M}", mark))
    above = [mark for mark in marks if mark not in rest]
    forms = {fold(base + "".join(order) + rest) for order in permutations(above)}
    assert len(forms) == 1


@settings(max_examples=80)
@given(one=_TEXTS, other=_TEXTS, language=st.sampled_from(_LANGUAGES))
def test_variants_are_the_same_both_ways(one: str, other: str, language: str | None):
    one, other = fold(one, language), fold(other, language)
    assert alike(one, one, language)
    assert alike(one, other, language) == alike(other, one, language)


_PAIRS = [
    (language, plain, marked)
    for language, table in _TABLE["plain"].items()
    for plain, forms in table.items()
    for marked in forms.split()
]


@pytest.mark.parametrize("language", sorted({language for language, _, _ in _PAIRS}))
def test_every_variant_of_the_table_is_found(language: str):
    for name, plain, marked in _PAIRS:
        if name == language:
            one, other = fold(f"x{plain}x", language), fold(f"x{marked}x", language)
            assert alike(one, other, language), (plain, marked)
            assert regex.fullmatch(pattern(one, language), other), (plain, marked)
            assert regex.fullmatch(pattern(other, language), one), (plain, marked)


def test_words_that_are_kept_apart_are_two_words():
    for language, words in _TABLE["kept_apart"].items():
        forms = [answer_form(word, language) for word in words.split()]
        same = [(a, b) for i, a in enumerate(forms) for b in forms[i + 1 :] if alike(a, b, language)]
        assert same == [], language


@given(
    word=st.text("abkn", min_size=1, max_size=3),
    script=st.sampled_from(
        ["答案是{}。", "これは{}です", "คือ{}ครับ", "{}가 맞아요", "ជា{}ទេ", "ແມ່ນ{}ແລ້ວ", "အဖြေ{}ပါ", "ལན{}ཡིན"]
    ),
)
def test_a_short_word_is_found_beside_scripts_without_blanks(word: str, script: str):
    assert holds(fold(script.format(word)), word)
    assert not holds(fold(script.format(f"x{word}")), word)
    assert not holds(fold(script.format(f"{word}x")), word)


@given(number=st.integers(0, 10**6), script=st.sampled_from(["答案是{}。", "คือ{}ครับ", "답은{}입니다", "ជា{}ទេ"]))
def test_a_number_is_found_beside_scripts_without_blanks(number: int, script: str):
    assert holds(fold(script.format(number)), str(number))
    assert not holds(fold(script.format(f"{number}7")), str(number))
    assert not holds(fold(script.format(f"7{number}")), str(number))


@pytest.mark.parametrize("word", ["no", "да", "ΝΑ", "لا", "אל", "न"])
def test_a_word_of_an_alphabet_has_edges(word: str):
    before, after = edges(word)
    whole = regex.compile(f"{before}{word}{after}")
    assert whole.search(f"{word}, 东京{word}大")
    assert not whole.search(f"{word}{word}")
