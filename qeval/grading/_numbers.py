"""Read the numbers in a text, in the digits of any script and in the number style of the text's language.

A mark between digits is read by the language: in German `2.125` is two thousand, in English two and an eighth.
Where the digits around it leave one reading only (`29.00` in German, `1.234,5` in English), that one is taken.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from typing import NamedTuple

import regex

from qeval.grading._han_numbers import numerals, with_units
from qeval.grading._number_markup import plain_numbers
from qeval.grading._number_parts import LARGEST_POWER, LONGEST_POWER, Part, combined
from qeval.grading._text import BLANK_GROUPS, ascii_digits, base_language, without_marks

_COMMA_LANGUAGES = (
    "af az be bg bs ca cs da de el es et eu fi fo fr gl hr hu hy id is it ka kk ky lb lt lv mk nb nl nn no pl pt ro ru"
    " sk sl sq sr sv tk tr uk uz vi"
)
_DECIMAL_COMMA = frozenset(_COMMA_LANGUAGES.split())
_POINT_REGIONS = "es-mx es-us es-pr es-gt es-hn es-ni es-sv es-pa es-do es-pe de-ch de-li it-ch"
_DECIMAL_POINT_REGIONS = frozenset(_POINT_REGIONS.split())
_CODES = (
    "USD|EUR|GBP|JPY|CNY|RMB|INR|CHF|CAD|AUD|NZD|SEK|NOK|DKK|PLN|CZK|HUF|TRY|BRL|MXN|KRW|RUB|AED|SAR|EGP|BDT|THB"
    "|VND|IDR|US|CA|AU|Rs|Rp|RM|kr|Kr|Fr|Nr|No|R|S|A|C"
)
_SPACES = "\u00a0\u202f\u2009\u2007\u2008"
_COMMAS = str.maketrans("，،", ",,")
_HARD_MARKS = "\u066b\u066c"
_NUMBER = regex.compile(
    rf"(?<![\p{{Latin}}\p{{Greek}}\p{{Cyrillic}}_\d])(?<!\p{{Lu}}[-‐‑])(?<!\d[.,'])"
    rf"(?P<sign>(?<![\p{{L}}\p{{N}})\]%])[-+−–﹣－](?=[$€£¥₹₩₽₺฿₫\d.])|(?<=[=:(≈][ ]?)[-−–][ ]?(?=\d))?"
    rf"(?P<body>\d+(?:(?:[.,'’٫٬]|·(?!10\^))\d+|[{_SPACES} ]\d{{3}}(?!\d))*|(?<!\d)[.,]\d+)"
    rf"(?P<exponent>[eE][-+−]?\d++(?!\p{{L}}))?",
    regex.VERSION1,
)
_CURRENCY_BEFORE = regex.compile(r"(?P<sign>[-−–])[ ]?[$€£¥₹₩₽₺฿₫]$")
_CODE_BEFORE = regex.compile(rf"(?<!\p{{L}})(?:{_CODES})(?=\d)")

LONGEST_READ = 50_000
"""Longest text in which numbers are read: no answer that names one is longer, and a longer one costs seconds."""


class Number(NamedTuple):
    """A number as a text writes it, exact."""

    value: Decimal | Fraction
    """A fraction where the text writes one (½, 3/4), else a decimal."""
    percent: bool
    """Whether a percent sign or word follows."""


def read_numbers(text: str, language: str | None = None) -> list[Number]:
    """Return the numbers of a text in order.

    Digits glued to letters of an alphabet before them (`H2O`, `GPT-4`) are names, not numbers. A fraction, a power, and
    a number with its word of size are one number.

    >>> [str(n.value) for n in read_numbers("rows 4 9, x = −4, ١٨ and $2,125.50.")]
    ['4', '9', '-4', '18', '2125.50']
    >>> [str(n.value) for n in read_numbers("2.125 und 3,5", "de")], read_numbers("2 1/2 million")[0].value
    (['2125', '3.5'], Fraction(2500000, 1))
    """
    plain = unicodedata.normalize("NFC", ascii_digits(without_marks(plain_numbers(text))))
    plain = plain.replace("．", ".").translate(_COMMAS)
    plain = with_units(_CODE_BEFORE.sub(lambda found: f"{found[0]} ", plain), language)
    parts = [part for found in _NUMBER.finditer(plain) for part in _parts(plain, found, language)]
    numbers = [Number(part.signed, part.percent) for part in combined(plain, parts, language)]
    # Beside digits, characters such as 一百 are mostly no number that was asked for.
    return numbers or [Number(value, percent=False) for value in numerals(plain, language)]


def _parts(text: str, found: regex.Match[str], language: str | None) -> Iterator[Part]:
    """Yield the numbers of a run of digits and marks; only the outer ones have neighbours."""
    bodies = _readings(found["body"], language, bracketed=_bracketed(text, found.start("body"), found.end("body")))
    for position, body in enumerate(bodies):
        first, last = position == 0, position == len(bodies) - 1
        yield Part(
            value=_decimal(body, (found["exponent"] or "") if last else ""),
            negative=first and _negative(text, found),
            start=found.start() if first else None,
            end=found.end() if last else None,
            bare=body.isdigit() and not found["sign"] and (not last or found["exponent"] is None),
        )


def _negative(text: str, found: regex.Match[str]) -> bool:
    if found["sign"]:
        return found["sign"].strip() != "+"
    before = _CURRENCY_BEFORE.search(text, max(0, found.start() - 4), found.start())
    return before is not None and (before.start() == 0 or not text[before.start() - 1].isalnum())


def _bracketed(text: str, start: int, end: int) -> bool:
    """Return whether the digits fill a pair of brackets, as coordinates do."""
    return start > 0 and end < len(text) and text[start - 1] in "([{" and text[end] in ")]}"


def _readings(body: str, language: str | None, *, bracketed: bool) -> list[str]:
    """Return the numbers that a run of digits and marks stands for, in Python's notation."""
    numbers: list[str] = []
    for part in _split_at_blanks(body.replace("’", "'").replace("·", "."), language):
        numbers.extend(_unmark(part, language, bracketed=bracketed))
    return numbers


def _split_at_blanks(body: str, language: str | None) -> list[str]:
    """Join digit groups over blanks where the language (or a no-break blank) says so; else split there."""
    pieces = regex.split(rf"([{_SPACES} ])", body)
    parts = [pieces[0]]
    soft = base_language(language) in BLANK_GROUPS
    for blank, piece in zip(pieces[1::2], pieces[2::2], strict=True):
        digits = regex.match(r"\d+", piece)
        opens = regex.fullmatch(r"[1-9]\d{0,2}|\d{1,3}(?:\d{3})+", parts[-1]) is not None
        if digits is not None and len(digits[0]) == 3 and opens and (soft or blank in _SPACES):
            parts[-1] += piece
        else:
            parts.append(piece)
    return parts


def _unmark(body: str, language: str | None, *, bracketed: bool) -> list[str]:
    chunks = regex.split(r"[.,'٫٬]", body)
    marks = regex.findall(r"[.,'٫٬]", body)
    if not marks:
        return [body]
    if not chunks[0]:
        return [f"0.{chunks[1]}"] if len(marks) == 1 else chunks[1:]
    group, decimal = _roles(chunks, marks, language, bracketed=bracketed)
    if group is None:
        return chunks
    whole = "".join(chunks[:-1]) if decimal else "".join(chunks)
    return [f"{whole}.{chunks[-1]}" if decimal else whole]


def _roles(chunks: list[str], marks: list[str], language: str | None, *, bracketed: bool) -> tuple[str | None, bool]:
    """Return the mark that groups (None: the digits are several numbers) and whether the last mark is decimal."""
    kinds = list(dict.fromkeys(marks))
    if len(marks) == 1:
        return _single(chunks, marks[0], language, bracketed=bracketed)
    if len(kinds) == 1:
        return (kinds[0], False) if kinds[0] != "٫" and _grouped(chunks, kinds[0]) else (None, False)
    if len(kinds) == 2 and marks.count(kinds[1]) == 1 and marks[-1] == kinds[1] and kinds[1] not in "'٬":
        return (kinds[0], True) if _grouped(chunks[:-1], kinds[0]) else (None, False)
    return None, False


def _single(chunks: list[str], mark: str, language: str | None, *, bracketed: bool) -> tuple[str | None, bool]:
    grouped = _grouped(chunks, mark)
    if mark in _HARD_MARKS or mark == "'":
        return ("", True) if mark == "٫" else ("", False) if grouped else (None, False)
    if mark == _decimal_mark(language):
        return "", True
    if grouped:
        return mark, False
    # A comma that cannot group, in a language of the decimal point: `(4,9)` is a list, `€1,50` a price.
    splits = mark == "," and language is not None and (bracketed or len(chunks[1]) != 2)
    return (None, False) if splits else ("", True)


def _decimal_mark(language: str | None) -> str:
    tag = (language or "").replace("_", "-").lower()
    if tag in _DECIMAL_POINT_REGIONS:
        return "."
    return "," if base_language(tag) in _DECIMAL_COMMA else "."


def _grouped(chunks: list[str], mark: str) -> bool:
    """Return whether the chunks are groups of three, or Indian groups (12,34,567)."""
    first, *rest = chunks
    if first.startswith("0") or not 1 <= len(first) <= 3:
        return False
    if all(len(chunk) == 3 for chunk in rest):
        return True
    return mark in ",٬" and len(first) <= 2 and len(rest[-1]) == 3 and all(len(chunk) == 2 for chunk in rest[:-1])


def _decimal(body: str, exponent: str) -> Decimal:
    digits = exponent[1:].replace("−", "-")
    # Beyond this no number is meant, and no arithmetic is done with it: 1e999999999 is only ever compared.
    power = max(-LARGEST_POWER, min(LARGEST_POWER, int(digits[:LONGEST_POWER] or 0)))
    return Decimal(body) if not power else Decimal(f"{body}e{power}")
