"""Numbers in every markup and with every word of the table are read exactly."""

from __future__ import annotations

import unicodedata
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qeval.grading._number_words import words
from qeval.grading._numbers import read_numbers
from qeval.grading.number import equal

_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_WORDS = words()


def _value(text: str, language: str | None = None) -> Decimal | Fraction:
    (number,) = read_numbers(text, language)
    return number.value


@given(over=st.integers(0, 999), under=st.integers(1, 999), minus=st.booleans())
def test_a_fraction_is_read_in_every_markup(over: int, under: int, minus: bool):
    sign = "-" if minus else ""
    worth = Fraction(-over if minus else over, under)
    texts = [rf"{sign}\frac{{{over}}}{{{under}}}", rf"\({sign}\dfrac{{\text{{{over}}}}}{{{under}}}\)"]
    for text in [*texts, f"{sign}{over}/{under}", f"{sign}{over}⁄{under}"]:
        assert _value(f"It is {text}.") == worth, text


@given(whole=st.integers(1, 9_999), over=st.integers(1, 99), more=st.integers(1, 99))
def test_a_mixed_number_is_read_in_every_markup(whole: int, over: int, more: int):
    under = over + more
    for text in (rf"{whole}\frac{{{over}}}{{{under}}}", f"{whole} {over}/{under}", f"{whole} {over}⁄{under}"):
        assert _value(f"so {text} cups") == whole + Fraction(over, under), text


@pytest.mark.parametrize("sign", "¼½¾⅐⅑⅒⅓⅔⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞")
def test_a_fraction_in_one_character_is_read(sign: str):
    worth = Fraction(unicodedata.numeric(sign)).limit_denominator(10)
    assert [_value(text) for text in (sign, f"-{sign}", f"2{sign}", f"2 {sign}")] == [
        worth,
        -worth,
        2 + worth,
        2 + worth,
    ]


@given(base=st.integers(2, 999), exponent=st.integers(-9, 99))
def test_a_power_is_read_in_every_markup(base: int, exponent: int):
    small = str(exponent).translate(_SUPERSCRIPTS)
    for text in (
        f"^{exponent}",
        f"^{{{exponent}}}",
        f"^({exponent})",
        f"**{exponent}",
        small,
        f"<sup>{exponent}</sup>",
    ):
        assert _value(f"{base}{text}") == Fraction(base) ** exponent, text


@given(
    number=st.integers(0, 10**6), exponent=st.integers(2, 9), unit=st.sampled_from(["m", "cm", r"\text{ km}", "(s)"])
)
def test_the_exponent_of_a_unit_is_no_number(number: int, exponent: int, unit: str):
    for text in (f"^{exponent}", f"^{{{exponent}}}", str(exponent).translate(_SUPERSCRIPTS), f"<sup>{exponent}</sup>"):
        assert _value(f"{number} {unit}{text}") == number, text


_SIZES = [
    (language, word, power)
    for language, table in _WORDS.sizes.items()
    for power, names in table.items()
    for word in names.split()
]


def test_every_word_of_size_multiplies():
    wrong = [
        (language, word)
        for language, word, power in _SIZES
        if _value(f"≈ 7 {word}", None if language == "any" else language) != 7 * 10**power
    ]
    assert wrong == []


def test_every_word_of_sign_makes_negative():
    pairs = [(language, word) for language, names in _WORDS.negative.items() for word in names.split()]
    wrong = [pair for pair in pairs if _value(f"{pair[1]} 7", None if pair[0] == "any" else pair[0]) != -7]
    assert wrong == []


def test_every_word_of_percent_is_one():
    pairs = [(language, word.replace("-", " ")) for language, names in _WORDS.percent.items() for word in names.split()]
    wrong = [p for p in pairs if not read_numbers(f"7 {p[1]}", None if p[0] == "any" else p[0])[0].percent]
    assert wrong == []


@given(exponent=st.integers(10**5, 10**30), minus=st.booleans())
def test_an_absurd_exponent_is_compared_and_never_worked_out(exponent: int, minus: bool):
    for text in (f"1e{'-' if minus else ''}{exponent}", f"10^{{{'-' if minus else ''}{exponent}}}", f"7^{exponent}"):
        (number,) = read_numbers(text)
        assert not equal(number.value, Decimal(1))
        assert not equal(number.value, Decimal(10), 0.5)


@settings(max_examples=30)
@given(number=st.decimals(min_value=-(10**9), max_value=10**9, places=3), tolerance=st.decimals(0, 10, places=3))
def test_a_tolerance_is_exact(number: Decimal, tolerance: Decimal):
    assert equal(number + tolerance, number, float(tolerance))
    assert not equal(number + tolerance + Decimal("0.0001"), number, float(tolerance))


_FRAGMENTS = st.sampled_from(
    ["\\frac", "\\frac{", "{", "}", "^", "^{", "**", "½", "⁻", "³", "\\boxed{", "\\text{", "\\", "/", "⁄", "×",
     "10", "7", "0", ".", ",", " ", "-", "e", "e9", "million", "minus ", "k", "%", "M€", "<sup>", "</sup>", "万", "_{"]
)  # fmt: skip


@given(text=st.lists(_FRAGMENTS, max_size=30).map("".join), language=st.sampled_from([None, "de", "fr", "ru", "ja"]))
def test_any_markup_gives_finite_numbers(text: str, language: str | None):
    for number in read_numbers(text, language):
        assert isinstance(number.value, Fraction) or number.value.is_finite()
