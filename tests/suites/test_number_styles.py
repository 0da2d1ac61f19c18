"""Numbers in the styles of the languages that the built-in suite `multilingual` asks for."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qeval.grading._numbers import read_numbers
from qeval.suites.bank import read_bank
from qeval.suites.load import builtin_folder
from qeval.suites.number_styles import ENGLISH, NumberStyle, write_number


def styles() -> dict[str, NumberStyle]:
    files: list[Path] = sorted((builtin_folder() / "multilingual" / "languages").glob("*.yaml"))
    return {file.stem: NumberStyle(**read_bank(file)["number"]) for file in files}


WITHOUT_UNIT = {name: style for name, style in styles().items() if not style.unit}


@pytest.mark.parametrize("name", WITHOUT_UNIT)
@given(whole=st.integers(1_000, 99_999_999), hundredths=st.integers(0, 99))
def test_a_written_number_is_read_back_in_its_language(name, whole, hundredths):
    worth = whole + Decimal(hundredths) / 100
    for written in write_number(whole, hundredths, WITHOUT_UNIT[name]):
        assert [number.value for number in read_numbers(written, name)] == [worth], written


@given(whole=st.integers(0, 10**12))
def test_english_groups_as_python_does(whole):
    assert write_number(whole, 0, ENGLISH) == [f"{whole:,}"]


@pytest.mark.parametrize(
    ("style", "whole", "hundredths", "written"),
    [
        (NumberStyle(group="\u202f", decimal=","), 1234, 5, ["1\u202f234,05", "1\u00a0234,05", "1 234,05"]),
        (NumberStyle(lakh=True), 100, 0, ["100"]),
        (NumberStyle(lakh=True), 9899999, 0, ["98,99,999"]),
        (NumberStyle(unit="만 ", unit_is=10000), 34500, 0, ["3만 4500", "3만 4,500"]),
        (NumberStyle(unit="万", unit_is=10000), 30900, 0, ["3万900"]),
        (NumberStyle(unit=" אלף", unit_is=1000), 34000, 0, ["34 אלף"]),
        (NumberStyle(digits="०१२३४५६७८९", lakh=True), 123456, 0, ["१,२३,४५६"]),
    ],
)
def test_styles(style, whole, hundredths, written):
    assert write_number(whole, hundredths, style) == written
