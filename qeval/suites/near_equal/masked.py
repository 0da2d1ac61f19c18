"""A prompt as words, without the values that a template is filled with."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import regex
from pydantic import Field

from qeval.strict import Strict, load_yaml

MASK = "\ufffc"
"""Stands for a value, or for several in a row: lists differ in length."""
_MASKS = Path(__file__).with_name("masks.yaml")
_CAPITAL_SHARE = 0.12
"""Share of its words by which a text is taken to be of a language with capital nouns."""


class Masked(NamedTuple):
    """The words of a prompt in lower case."""

    plain: tuple[str, ...]
    """Without numbers, ids, addresses and placeholders."""
    bare: tuple[str, ...]
    """Also without names, short quotations, file names and names in code."""


class _Mask(Strict):
    name: str
    pattern: str


class _CapitalNouns(Strict):
    languages: frozenset[str]
    words: frozenset[str]


class _Masks(Strict):
    values: tuple[_Mask, ...]
    words: tuple[_Mask, ...]
    capital_nouns: _CapitalNouns
    without_blanks: tuple[str, ...] = Field(min_length=1)


class _Patterns(NamedTuple):
    values: tuple[regex.Pattern[str], ...]
    words: tuple[regex.Pattern[str], ...]
    run: regex.Pattern[str]
    """Characters that may make up an id, a number or a path together."""
    token: regex.Pattern[str]
    half: regex.Pattern[str]
    """A character of a script without blanks."""
    capital_nouns: _CapitalNouns


_NAME = regex.compile(r"\p{Lu}\p{Ll}[\p{L}\p{M}]*(?:['’-]\p{L}+)*|\p{Lu}['’]\p{Lu}\p{Ll}+")
"""A capitalised word. Words all in capitals are mostly abbreviations, which tell prompts apart."""
_SENTENCE_ENDS = regex.compile(r"""[.!?;…\n؟。！？¿¡"“”„«»(\[]|[-–—]\s""")
_IN_CODE = regex.compile(r"_|[/\\]|\p{L}\.\p{L}|\p{Ll}\p{Lu}")
"""In a run: it is a path, a file name, or a name in code."""
_ENDS = ".:/\\-"


def mask(text: str, lang: str | None = None) -> Masked:
    """Return the words of a text.

    Args:
        text: a user turn or a tool's result.
        lang: BCP 47 language, where it is known.

    >>> masked = mask("Where is order A-1023 of Ann Miller?")
    >>> " ".join(masked.plain).replace(MASK, "?"), " ".join(masked.bare).replace(MASK, "?")
    ('where is order ? of ann miller', 'where is order ? of ?')
    """
    patterns = _patterns()
    text = unicodedata.normalize("NFKC", text)
    for pattern in patterns.values:
        text = pattern.sub(f" {MASK} ", text)
    plain = patterns.run.sub(_without_values, text)
    words = _words(plain, names=False, patterns=patterns)
    for pattern in patterns.words:
        plain = pattern.sub(f" {MASK} ", plain)
    bare = patterns.run.sub(_without_code, plain)
    return Masked(words, _words(bare, names=not _has_capital_nouns(words, lang), patterns=patterns))


@cache
def weight(word: str) -> float:
    """Return what a word counts where two prompts differ in it: a value nothing, a character without blanks half."""
    if word == MASK:
        return 0
    return 0.5 if _patterns().half.fullmatch(word) else 1


def weigh(words: Sequence[str]) -> float:
    """Return what several words count together."""
    return sum(map(weight, words), start=0.0)


@cache
def _patterns() -> _Patterns:
    masks = load_yaml(_Masks, _MASKS)
    scripts = "".join(rf"\p{{{script}}}" for script in masks.without_blanks)
    letter = rf"[[\p{{L}}\p{{M}}]--[{scripts}]]"
    return _Patterns(
        values=tuple(regex.compile(mask.pattern) for mask in masks.values),
        words=tuple(regex.compile(mask.pattern) for mask in masks.words),
        run=regex.compile(rf"[[\p{{L}}\p{{M}}\p{{N}}\p{{Sc}}_#@%+./\\:=&~-]--[{scripts}]]+", regex.V1),
        token=regex.compile(
            rf"{MASK}|[{scripts}]\p{{M}}*|{letter}+(?:['’]{letter}+)*|[^\s\p{{P}}\p{{L}}\p{{M}}\p{{N}}\p{{C}}]",
            regex.V1,
        ),
        half=regex.compile(rf"[{scripts}]\p{{M}}*", regex.V1),
        capital_nouns=masks.capital_nouns,
    )


def _without_values(run: regex.Match[str]) -> str:
    """Replace a run of characters that holds a digit; what ends a sentence after it stays."""
    whole = run[0]
    if not any(char.isnumeric() for char in whole):
        return whole
    core = whole.rstrip(_ENDS)
    return f" {MASK} {whole[len(core) :]}"


def _without_code(run: regex.Match[str]) -> str:
    whole = run[0]
    core = whole.strip(_ENDS)
    return f" {MASK} {whole[len(whole.rstrip(_ENDS)) :]}" if _IN_CODE.search(core) else whole


def _words(text: str, *, names: bool, patterns: _Patterns) -> tuple[str, ...]:
    """Cut a text into words; names are masked where asked for, but not at the start of a sentence."""
    words: list[str] = []
    end = 0
    for token in patterns.token.finditer(text):
        word = token[0]
        if names and words and _NAME.fullmatch(word) and not _SENTENCE_ENDS.search(text, end, token.start()):
            word = MASK
        end = token.end()
        if word != MASK or not words or words[-1] != MASK:
            words.append(word.casefold())
    return tuple(words)


def _has_capital_nouns(words: tuple[str, ...], lang: str | None) -> bool:
    known = _patterns().capital_nouns
    if lang is not None:
        return lang.lower().partition("-")[0] in known.languages
    common = sum(word in known.words for word in words)
    return common >= 2 and common >= _CAPITAL_SHARE * len(words)
