"""Words beside digits that are part of the number: of size, of sign, of percent. They are in number_words.yaml."""

from __future__ import annotations

import unicodedata
from functools import cache, lru_cache
from pathlib import Path
from typing import NamedTuple

import regex

from qeval.grading._text import base_language, edges
from qeval.strict import Strict, load_yaml

_BLANK = "[ \u00a0\u202f\u2009]"
_SUFFIXES = {"k": 3, "K": 3, "M": 6, "B": 9}
"""Letters glued to a number that are sizes, and not the beginning of a unit (5kg, 3MB)."""
_SUFFIX = regex.compile(rf"[kKMB](?![\p{{Latin}}\p{{Greek}}\p{{Cyrillic}}\p{{M}}\d])|{_BLANK}?[kM](?=[€$£])")


class _Words(Strict):
    """The content of number_words.yaml."""

    sizes: dict[str, dict[int, str]]
    negative: dict[str, str]
    no_sign_after: dict[str, str]
    percent: dict[str, str]


class Size(NamedTuple):
    """A word of size after a number."""

    power: int
    """The power of ten it stands for."""
    end: int
    """Where it ends."""


class _Patterns(NamedTuple):
    sizes: dict[str, int]
    size: regex.Pattern[str]
    negative: regex.Pattern[str]
    percent: regex.Pattern[str]


def size_after(text: str, end: int, language: str | None) -> Size | None:
    """Return the size that follows a number, None without one.

    >>> size_after("3.5 million", 3, "en"), size_after("3,5 Billionen", 3, "de").power, size_after("3kg", 1, None)
    (Size(power=6, end=11), 12, None)
    """
    patterns = _patterns(base_language(language))
    power, place = 0, end
    # mil millones, hundred thousand: one size after another multiplies.
    while power < 20 and (found := patterns.size.match(text, place)) is not None:
        power, place = power + patterns.sizes[found["word"].lower()], found.end()
    if power:
        return Size(power, place)
    suffix = _SUFFIX.match(text, end)
    return None if suffix is None else Size(_SUFFIXES[suffix[0].strip()], suffix.end())


def negative_before(text: str, start: int, language: str | None) -> bool:
    """Return whether a word before a number makes it negative; between two numbers it subtracts instead."""
    return _patterns(base_language(language)).negative.search(text, max(0, start - 30), start) is not None


def percent_after(text: str, end: int, language: str | None) -> bool:
    """Return whether a percent sign or word follows a number."""
    return _patterns(base_language(language)).percent.match(text, end) is not None


@cache
def words() -> _Words:
    """Return the table of words."""
    return load_yaml(_Words, Path(__file__).parent / "number_words.yaml")


@lru_cache(maxsize=64)
def _patterns(language: str | None) -> _Patterns:
    table = words()
    asked = (language or "en", "en", "any")
    sizes: dict[str, int] = {}
    for name in asked:
        for power, names in table.sizes.get(name, {}).items():
            for word in _split(names):
                sizes.setdefault(word.lower(), power)
    negative = [word for name in asked for word in _split(table.negative.get(name, ""))]
    other = [word for name in asked for word in _split(table.no_sign_after.get(name, ""))]
    percent = [word for name in asked for word in _split(table.percent.get(name, ""))]
    return _Patterns(
        sizes,
        regex.compile(rf"(?:{_BLANK}|-(?=\p{{L}}))?(?P<word>{_any_of(sizes)})\.?", regex.IGNORECASE),
        regex.compile(
            rf"(?<![\p{{Nd}}%)\]]{_BLANK}?|(?<!\p{{L}})\p{{Latin}}{_BLANK})"
            rf"(?<!(?:{_any_of(other)})(?:{_BLANK}|-))(?:{_any_of(negative)})(?:{_BLANK}|-|の)?[$€£¥₹]?$",
            regex.IGNORECASE,
        ),
        regex.compile(rf"{_BLANK}?(?:[%٪﹪％]|(?:{_any_of(percent)}))", regex.IGNORECASE),
    )


def _split(names: str) -> list[str]:
    """Return words, a hyphen within one read as a blank."""
    return [unicodedata.normalize("NFC", word).replace("-", " ") for word in names.split()]


def _any_of(words: dict[str, int] | list[str]) -> str:
    """Return a pattern of whole words, longer ones first."""
    each = sorted(dict.fromkeys(words), key=len, reverse=True)
    return "|".join(f"{before}{regex.escape(word)}{after}" for word in each for before, after in [edges(word)])
