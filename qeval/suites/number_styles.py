"""Numbers as languages write them: their marks and digits, lakhs, and a word for thousands or ten thousands.

The marks are those of Unicode's CLDR 45 (main/<language>/numbers.json) for the languages of the built-in suites.
"""

from __future__ import annotations

from typing import NamedTuple

_ASCII = "0123456789"
_BLANKS = {"\u202f": "\u202f\u00a0 ", "\u00a0": "\u00a0\u202f "}
"""Blanks that writers use for one another, the usual first."""


class NumberStyle(NamedTuple):
    """How a language writes a number; the defaults are the English way."""

    group: str = ","
    decimal: str = "."
    digits: str = _ASCII
    """The digits from nought to nine."""
    lakh: bool = False
    """Whether groups above the first are of two digits (12,34,567)."""
    unit: str = ""
    """A word, with the blank that stands before or after it, that multiplies what is left of it; "" for none."""
    unit_is: int = 0
    """What the word stands for."""


ENGLISH = NumberStyle()


def write_number(whole: int, hundredths: int, style: NumberStyle) -> list[str]:
    """Return the ways in which a number is written in a style, with group marks, the usual one first.

    Args:
        whole: the part before the decimal mark, not negative.
        hundredths: the part after it, 0 to 99; 0 for a number without decimals.
        style: the language's style; one with a unit is for numbers without decimals.

    >>> write_number(1234, 50, NumberStyle(group=".", decimal=","))
    ['1.234,50', '1.234,5']
    >>> write_number(1234567, 0, NumberStyle(lakh=True)), write_number(34500, 0, NumberStyle(unit="万", unit_is=10000))
    (['12,34,567'], ['3万4500', '3万4,500'])
    """
    if style.unit:
        many, rest = divmod(whole, style.unit_is)
        ends = [str(rest), *([_grouped(rest, ",", lakh=False)] if rest > 999 else [])] if rest else [""]
        return [f"{many}{style.unit}{end}" for end in ends]
    groups = [_grouped(whole, mark, lakh=style.lakh) for mark in _BLANKS.get(style.group, style.group)]
    ends = [f"{style.decimal}{hundredths:02d}"] if hundredths else [""]
    if hundredths and hundredths % 10 == 0:
        ends.append(f"{style.decimal}{hundredths // 10}")
    digits = str.maketrans(_ASCII, style.digits)
    return [f"{number}{end}".translate(digits) for number in groups for end in ends]


def _grouped(whole: int, mark: str, *, lakh: bool) -> str:
    text = str(whole)
    head, last = text[:-3], text[-3:]
    width = 2 if lakh else 3
    first = len(head) % width
    parts = [head[:first], *(head[place : place + width] for place in range(first, len(head), width)), last]
    return mark.join(filter(None, parts))
