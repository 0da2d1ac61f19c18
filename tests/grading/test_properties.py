"""Whatever a model prints, graders answer; and what is written as a number is read back as that number."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qeval.chat import Tool
from qeval.grading import Answer, Question, check_grader
from qeval.grading._calls import read_calls
from qeval.grading._json import find_json, read_strict
from qeval.grading._numbers import read_numbers
from qeval.grading._text import answer_form, fold
from qeval.grading.base import find_grader
from qeval.jsonl import dumps
from qeval.marks import split_said
from tests.grading.case_files import example_graders, plain_graders

_TOOLS = (Tool(name="f", parameters={"type": "object", "properties": {"a": {"type": "integer"}}}),)
_FRAGMENTS = st.sampled_from(
    ["{", "}", "[", "]", '"', "'", ":", ",", "```", "```json\n", "\n", "<think>", "</think>", "<tool_call>", "f(", "a=",
     ")", "1", "1e9", "-", "NaN", "null", "\\", "\ud83d", "\u2028", "١", ".", '{"name": "f", "arguments": ', "I can't "]
)  # fmt: skip
_HOSTILE = st.one_of(
    st.lists(_FRAGMENTS, max_size=40).map("".join),
    st.text(st.characters(codec=None, exclude_categories=()), max_size=60),
)
_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(exclude_categories=["Cs"]), max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)


@pytest.mark.parametrize("spec", [*plain_graders(), *example_graders()], ids=dumps)
@settings(max_examples=20)
@given(text=_HOSTILE)
def test_no_text_crashes_a_grader(spec: dict[str, Any], text: str):
    kind, options = check_grader(spec, "x")
    graded = find_grader(kind).grade(options, Answer(split_said(text).answer), Question("de", _TOOLS))
    assert graded
    assert dumps([grade.model_dump() for grade in graded]).encode("utf-8")


@given(number=st.integers(10**4, 10**12 - 1), decimals=st.booleans())
def test_a_number_in_units_of_ten_thousand_is_read(number: int, decimals: bool):
    large, rest = divmod(number, 10**8)
    middle, small = divmod(rest, 10**4)
    written = "".join(f"{part}{unit}" for part, unit in ((large, "亿"), (middle, "万"), (small, "")) if part)
    if decimals:
        written = f"{Decimal(number).scaleb(-4):f}万"
    (read,) = read_numbers(f"一共{written}元。", "ja")
    assert read.value == number


@given(number=st.integers(10, 99_999_999))
def test_a_number_in_chinese_characters_is_read(number: int):
    (read,) = read_numbers(f"答案是{_in_characters(number)}。", "zh")
    assert read.value == number


def _in_characters(number: int) -> str:
    """Write a number the Chinese way: one 零 for every gap."""
    digits = "零一二三四五六七八九"
    large, small = divmod(number, 10_000)
    if large:
        gap = "零" if small and (small < 1000 or large % 10 == 0) else ""
        return f"{_in_characters(large)}万{gap}{_in_characters(small) if small else ''}"
    places = [(number // unit % 10, mark) for unit, mark in ((1000, "千"), (100, "百"), (10, "十"), (1, ""))]
    written = "".join(f"{digits[digit]}{mark}" if digit else "零" for digit, mark in places).strip("零")
    while "零零" in written:
        written = written.replace("零零", "零")
    return written


@settings(max_examples=60)
@given(value=st.dictionaries(st.text(max_size=4), _VALUES, min_size=1, max_size=3), frame=st.sampled_from([0, 1, 2, 3]))
def test_json_is_found_in_every_frame(value: dict[str, Any], frame: int):
    text = dumps(value)
    framed = [text, f"```json\n{text}\n```", f"Here you are: {text} Bye.", f"```\n{text}\n```\nDone."][frame]
    found = find_json(framed)
    assert [piece.value for piece in found.pieces] == [value]


@settings(max_examples=60)
@given(
    number=st.decimals(min_value=-(10**9), max_value=10**9, places=2), style=st.sampled_from(["en", "de", "fr", "hi"])
)
def test_a_number_is_read_back_from_its_languages_style(number: Decimal, style: str):
    group, point = {"en": (",", "."), "de": (".", ","), "fr": ("\u202f", ","), "hi": (",", ".")}[style]
    written = f"{number:,.2f}".replace(",", "G").replace(".", point).replace("G", group)
    for sentence in (f"= {written}", f"so {written}.", f"({written})", f"**{written}**, yes"):
        assert [read.value for read in read_numbers(sentence, style)] == [number]


@settings(max_examples=40)
@given(text=st.text(max_size=40), language=st.sampled_from([None, "en", "tr", "zh", "ar", "de", "fa"]))
def test_the_normal_form_is_stable(text: str, language: str | None):
    assert fold(fold(text, language), language) == fold(text, language)
    assert answer_form(text, language) == answer_form(f" {text}\n", language)


@settings(max_examples=40)
@given(arguments=st.dictionaries(st.text(st.characters(categories=["L"]), min_size=1, max_size=4), _VALUES, max_size=3))
def test_a_call_is_the_same_in_every_syntax(arguments: dict[str, Any]):
    call = dumps({"name": "tool.run", "arguments": arguments})
    texts = [call, f"<tool_call>\n{call}\n</tool_call>", f"```json\n[{call}]\n```", f"I call {call} now."]
    texts.append(dumps({"tool_calls": [{"function": {"name": "tool.run", "arguments": dumps(arguments)}}]}))
    for text in texts:
        calls = read_calls(Answer(text)).calls
        assert [(call.name, call.arguments) for call in calls] == [("tool.run", arguments)]


def test_integers_beyond_pythons_digit_limit_are_read():
    assert read_strict("1" * 5000) == Decimal("1" * 5000)
