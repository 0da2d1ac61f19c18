"""Name the language of a text: by its script where that settles it, else by lingua's model (inside the package)."""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import regex

if TYPE_CHECKING:
    from lingua import LanguageDetector

_SCRIPTS = {
    "Latin": "en de fr es it pt nl sv da nb nn fi is et lv lt pl cs sk sl hr bs hu ro sq tr az vi id ms tl sw ca eu cy"
    " ga af eo la so yo zu xh",
    "Cyrillic": "ru uk be bg sr mk kk mn",
    "Arabic": "ar fa ur",
    "Devanagari": "hi mr",
    "Han": "zh ja",
    "Hiragana": "ja",
    "Katakana": "ja",
    "Hangul": "ko",
    "Thai": "th",
    "Greek": "el",
    "Hebrew": "he",
    "Bengali": "bn",
    "Tamil": "ta",
    "Telugu": "te",
    "Gujarati": "gu",
    "Gurmukhi": "pa",
    "Georgian": "ka",
    "Armenian": "hy",
    "Kannada": "kn",
    "Malayalam": "ml",
    "Sinhala": "si",
    "Khmer": "km",
    "Lao": "lo",
    "Myanmar": "my",
    "Ethiopic": "am",
    "Oriya": "or",
}
_OF_SCRIPT = {script: tuple(names.split()) for script, names in _SCRIPTS.items()}
_ALIASES = {"no": "nb", "iw": "he", "in": "id", "fil": "tl", "cmn": "zh", "yue": "zh", "zh": "zh"}
_LETTERS = {script: regex.compile(rf"\p{{{script}}}") for script in _OF_SCRIPT}
_LETTER = regex.compile(r"\p{L}")
_NOT_PROSE = regex.compile(
    r"```.*?(?:```|\Z)|`[^`\n]*`|https?://\S+|[\w.+-]{1,64}+@[\w.-]+|<[^<>\n]{1,80}>", regex.DOTALL
)
_LONGEST = 6_000


class Guess(NamedTuple):
    """A language with lingua's confidence in it, 1 where the script alone settles it."""

    language: str
    confidence: float


def known_languages() -> frozenset[str]:
    """Return the ISO 639-1 codes that can be told apart."""
    return frozenset(name for names in _OF_SCRIPT.values() for name in names)


def canonical(language: str) -> str:
    """Return the code used here for a BCP 47 tag.

    >>> canonical("no"), canonical("pt-BR")
    ('nb', 'pt')
    """
    base = language.replace("_", "-").split("-")[0].lower()
    return _ALIASES.get(base, base)


def prose(text: str) -> str:
    """Return the text without code, addresses and tags, which are in no language."""
    return _NOT_PROSE.sub(" ", text[: 4 * _LONGEST])[:_LONGEST]


def count_letters(text: str) -> int:
    """Return the number of letters, a character of a script without blanks counting as three."""
    wide = len(regex.findall(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}]", text))
    return len(_LETTER.findall(text)) + 2 * wide


def scripts(text: str) -> Counter[str]:
    """Return how many letters of each known script a text has."""
    return Counter({script: n for script, letters in _LETTERS.items() if (n := len(letters.findall(text)))})


def script_fits(text: str, language: str) -> bool:
    """Return whether at least half of the letters are of a script that the language is written in."""
    counts = scripts(text)
    fitting = sum(n for script, n in counts.items() if language in _OF_SCRIPT[script])
    return 2 * fitting >= counts.total()


def guesses(text: str) -> list[Guess]:
    """Return the languages a text may be in, best first; empty where it has no letters of a known script."""
    counts = scripts(text)
    if not counts:
        return []
    if counts["Hiragana"] + counts["Katakana"] > 0 and 20 * (counts["Hiragana"] + counts["Katakana"]) > counts["Han"]:
        counts["Hiragana"] += counts.pop("Han", 0)
    script = counts.most_common(1)[0][0]
    if script == "Han":
        return [Guess("zh", 1.0)]
    names = _OF_SCRIPT[script]
    if len(names) == 1:
        return [Guess(names[0], 1.0)]
    values = _detector(script).compute_language_confidence_values(text)
    return [Guess(value.language.iso_code_639_1.name.lower(), value.value) for value in values[:5] if value.value > 0]


@lru_cache(maxsize=8)
def _detector(script: str) -> LanguageDetector:
    """Return the detector for the languages of one script, so that no other model is loaded.

    The low-accuracy models (68 MB for all languages, against 1 GB) are as good on the lengths judged here.
    """
    from lingua import IsoCode639_1, LanguageDetectorBuilder

    codes = [IsoCode639_1.from_str(name.upper()) for name in _OF_SCRIPT[script]]
    return LanguageDetectorBuilder.from_iso_codes_639_1(*codes).with_low_accuracy_mode().build()
