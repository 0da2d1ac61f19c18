"""Numbers in the units of Chinese, Japanese and Korean: `3万5千`, `1.2亿`, `3만 5천`, `一百二十`."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal, localcontext

import regex

_UNITS = {
    "十": 10, "百": 100, "千": 1000, "万": 10**4, "萬": 10**4, "亿": 10**8, "億": 10**8, "兆": 10**12,
    "백": 100, "천": 1000, "만": 10**4, "억": 10**8,
}  # fmt: skip
_DIGITS = {**{digit: value for value, digit in enumerate("零一二三四五六七八九")}, "〇": 0, "两": 2, "兩": 2}

_NUMBER = r"(?:\d{1,3}+(?:,\d{3})++(?!\d)|\d++)(?:\.\d++)?"
# 5千克 is five kilograms, 5百帕 five hectopascals, and 兆 is mega where no money and no further number follows.
_UNIT = r"[万萬亿億백천만억]|千(?!克|米|瓦|卡|赫|焦|帕|伏|字节|比特)|百(?!帕)|兆(?=[\d円圓元])"
_PIECE = rf"{_NUMBER}(?:[ ](?=[万萬亿億]))?+(?:{_UNIT})[千万萬亿億천만억]*+"
_AFTER_BLANK = r"(?<=[백천만억])[ ]"
_MIXED = regex.compile(
    rf"(?<![\d.,]){_PIECE}(?:(?:{_AFTER_BLANK})?+{_PIECE})*+(?:{_NUMBER}|{_AFTER_BLANK}(?:\d,)?\d{{3}}(?![\d,.]))?"
)
_DIGIT = "[一二两兩三四五六七八九]"
_UNDER_10_000 = rf"(?:{_DIGIT}千零?)?(?:{_DIGIT}百零?)?(?:{_DIGIT}?十)?{_DIGIT}?"
_NUMERAL = regex.compile(
    r"(?<![〇零一二三四五六七八九])[〇零一二三四五六七八九]{4}(?=年)"
    rf"|(?={_DIGIT}|十[一二三四五六七八九万萬亿億])(?:{_UNDER_10_000}[兆亿億万萬]零?){{0,4}}{_UNDER_10_000}"
)
_PART = regex.compile(r"\d[\d,]*(?:\.\d+)?|\S")


def with_units(text: str, language: str | None) -> str:
    """Write digits with units as plain numbers, in a text whose digits are 0-9.

    >>> with_units("约3万5千元，重5千克", "zh"), with_units("3만 5천 원", "ko")
    ('约35000元，重5千克', '35000 원')
    """
    return _MIXED.sub(lambda found: f"{_worth(found[0], language):f}", text)


def numerals(text: str, language: str | None) -> list[Decimal]:
    """Return the numbers written in Chinese characters alone: those with a unit, and years digit by digit.

    >>> numerals("一共一百二十个，千万记住", "zh"), numerals("二〇二四年", "zh")
    ([Decimal('120')], [Decimal('2024')])
    """
    return [_worth(found[0], language) for found in _NUMERAL.finditer(text) if len(found[0]) > 1]


def _worth(text: str, language: str | None) -> Decimal:
    parts = _PART.findall(text)
    if all(part in _DIGITS for part in parts):
        return Decimal("".join(str(_DIGITS[part]) for part in parts))
    with localcontext(prec=len(text) + 40):
        return _summed(parts, chinese=(language or "").lower().startswith(("zh", "yue", "cmn")))


def _summed(parts: Sequence[str], *, chinese: bool) -> Decimal:
    total = section = Decimal(0)
    number: Decimal | None = None
    unit = 1
    for part in parts:
        if part not in _UNITS:
            number = Decimal(_DIGITS[part] if part in _DIGITS else part.replace(",", ""))
            unit = 1 if not number else unit
            continue
        unit = _UNITS[part]
        if unit < 10**4:
            section += (Decimal(1) if number is None else number) * unit
        else:
            below = section + (number or 0)
            # 1万亿 is ten thousand times a hundred million; 1亿3万 is a sum.
            total = (total + below) * unit if total < unit else total + below * unit
            section = Decimal(0)
        number = None
    if number is not None and number < 10 and unit >= 100 and chinese:
        # 两千五 is two thousand five hundred; 2,005 is 两千零五. Japanese reads the digit as it stands.
        number *= unit // 10
    return total + section + (number or 0)
