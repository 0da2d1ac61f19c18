"""Spellings that say the same in a language: its rules are in spelling.yaml."""

from __future__ import annotations

import unicodedata
from functools import cache, lru_cache
from pathlib import Path
from typing import NamedTuple

import regex

from qeval.strict import Strict, load_yaml

_LETTERS = regex.compile(r"[\p{L}\p{M}]+")
_KATAKANA = {code: code - 0x60 for code in [*range(0x30A1, 0x30F7), 0x30FD, 0x30FE]}
"""Katakana to hiragana."""
_MARKS = regex.compile("[[\\p{Thai}\\p{Lao}\\p{Khmer}\\p{Myanmar}]&&\\p{Mn}--[\u17d2\u1039]]{2,}", regex.VERSION1)
"""Marks over and under one letter, whose order cannot be seen; not the two that make the next letter small."""


class _Table(Strict):
    """The content of spelling.yaml."""

    same: dict[str, dict[str, str]]
    plain: dict[str, dict[str, str]]
    anusvara: dict[str, dict[str, str]]
    unnamed: str
    kept_apart: dict[str, str]


class _Rules(NamedTuple):
    """The rules of one language."""

    same: dict[str, str]
    plain: dict[str, str]
    """Marked form to plain form; a marked form is a piece of a regular expression."""
    kept_apart: frozenset[str]
    unit: regex.Pattern[str]
    """One marked form, or one character."""


def unified(text: str, language: str | None) -> str:
    """Return a text in which what only looks or is typed differently is the same, by the rules of a language (or None).

    >>> unified("เเมว", None) == "แมว", unified("hòa", "vi"), unified("リンゴ", "ja")
    (True, 'hoà', 'りんご')
    """
    rules = _rules(language)
    text = _MARKS.sub(lambda found: "".join(sorted(set(found[0]))), text)
    if language in {None, "ja"}:
        text = text.translate(_KATAKANA)
    return _same_pattern(language).sub(lambda found: rules.same[found[0]], text)


def is_kept_apart(word: str, language: str | None) -> bool:
    """Return whether a word, in small letters, is one of two that the rules would make one."""
    return word in _rules(language).kept_apart


def alike(one: str, other: str, language: str | None) -> bool:
    """Return whether two texts in normal form are the same but for marks that writers may leave out.

    >>> alike("ребенок", "ребёнок", "ru"), alike("إعلام", "أعلام", "ar"), alike("اعلام", "أعلام", "ar")
    (True, False, True)
    """
    if one == other or not _rules(language).plain:
        return one == other
    left, right = units(one, language), units(other, language)
    if len(left) != len(right):
        return False
    return all(
        a.plain == b.plain and (a.written == b.written or a.plain in {a.written, b.written})
        for a, b in zip(left, right, strict=True)
    )


def plain_form(text: str, language: str | None) -> str:
    """Return a text in normal form without the marks that writers may leave out."""
    return "".join(unit.plain for unit in units(text, language))


def pattern(text: str, language: str | None) -> str:
    """Return a regular expression that matches the texts that are alike.

    >>> bool(regex.fullmatch(pattern("ребенок", "ru"), "ребёнок"))
    True
    """
    rules = _rules(language)
    pieces = []
    for unit in units(text, language):
        marked = [form for form, plain in rules.plain.items() if plain == unit.plain]
        if not marked or unit.fixed:
            pieces.append(regex.escape(unit.written))
        elif unit.written == unit.plain:
            pieces.append(f"(?:{'|'.join([*sorted(marked, key=len, reverse=True), regex.escape(unit.plain)])})")
        else:
            pieces.append(f"(?:{regex.escape(unit.written)}|{regex.escape(unit.plain)})")
    return "".join(pieces)


class Unit(NamedTuple):
    """A letter as it is written, and in its plain form."""

    written: str
    plain: str
    fixed: bool
    """Part of a word that is kept apart."""


def units(text: str, language: str | None) -> list[Unit]:
    """Return the letters of a text in normal form."""
    rules = _rules(language)
    if not rules.plain:
        return [Unit(letter, letter, False) for letter in text]
    fixed = [found.span() for found in _LETTERS.finditer(text) if found[0] in rules.kept_apart]
    done = []
    for found in rules.unit.finditer(text):
        kept = any(start <= found.start() < end for start, end in fixed)
        plain = found[0] if kept or found.lastgroup is None else list(rules.plain.values())[int(found.lastgroup[1:])]
        done.append(Unit(found[0], plain, kept))
    return done


@cache
def _table() -> _Table:
    return load_yaml(_Table, Path(__file__).parent / "spelling.yaml")


@lru_cache(maxsize=64)
def _rules(language: str | None) -> _Rules:
    table = _table()
    names = table.unnamed.split() if language is None else [language]
    same = {_nfc(a): _nfc(b) for name in ("any", *names) for a, b in table.same.get(name, {}).items()}
    plain = {
        regex.escape(_nfc(marked)): _nfc(form)
        for name in names
        for form, forms in table.plain.get(name, {}).items()
        for marked in forms.split()
    }
    plain |= {
        f"{regex.escape(_nfc(nasal))}(?=[{before}])": "\u0902"
        for name in names
        for nasal, before in table.anusvara.get(name, {}).items()
    }
    kept = frozenset(_nfc(word) for name in names for word in table.kept_apart.get(name, "").split())
    # Longer forms first; the group's number tells which form it was.
    ordered = dict(sorted(plain.items(), key=lambda item: len(item[0]), reverse=True))
    forms = [f"(?P<f{number}>{form})" for number, form in enumerate(ordered)]
    # A plain form of two letters (the Serbian lj) is one unit too.
    whole = [regex.escape(form) for form in sorted(set(plain.values()), key=len, reverse=True) if len(form) > 1]
    return _Rules(same, ordered, kept, regex.compile("|".join([*forms, *whole, "."]), regex.DOTALL))


@lru_cache(maxsize=64)
def _same_pattern(language: str | None) -> regex.Pattern[str]:
    sequences = sorted(_rules(language).same, key=len, reverse=True)
    return regex.compile("|".join(regex.escape(sequence) for sequence in sequences))


def _nfc(text: str) -> str:
    return unicodedata.normalize("NFC", text)
