"""Which languages' phrases an answer is read with: that of its case, and that in which it is written."""

from __future__ import annotations

import unicodedata
from functools import cache
from typing import get_args

import regex

from qeval.grading._languages import canonical
from qeval.grading._refusal.phrases import LANGUAGES, Script, patterns

_SAMPLE = 1_000
"""Characters by which the language of a text is known."""
_LEAST_WORDS = 2
"""Frequent words of a language that must be found; a single one may be a name."""
_SCRIPTS: dict[Script, regex.Pattern[str]] = {
    **{name: regex.compile(rf"\p{{{name}}}") for name in get_args(Script) if name != "Kana"},
    "Kana": regex.compile(r"[\u3040-\u30ff]"),
}
_LEAST_KANA = 20
"""Chinese characters for each kana up to which a text is Japanese."""
_WORD = regex.compile(r"[\p{L}\p{M}'\u200c]+")
_FALLBACK = "en"
"""What a model falls back to, and what is read where nothing else is known."""


def languages_of(text: str, prompt: str | None, tag: str | None) -> tuple[str, ...]:
    """Return the known languages to read an answer with, the one it is written in first.

    Args:
        text: the answer.
        prompt: what it answers; asked where the answer is too short to tell.
        tag: BCP 47 language of the case, if it has one.

    >>> languages_of("I can't help you with that.", "Wie spät ist es?", "de")
    ('en', 'de')
    >>> languages_of("Nein.", "Wie spät ist es?", None)
    ('de',)
    """
    tagged = canonical(tag) if tag else None
    chosen = [written_in(text), tagged if tagged in LANGUAGES else None]
    if not any(chosen):
        chosen.append(written_in(prompt or ""))
    return tuple(dict.fromkeys(one for one in chosen if one)) or (_FALLBACK,)


def written_in(text: str) -> str | None:
    """Return the known language of a text: by its script where that settles it, else by its frequent words."""
    sample = text[:_SAMPLE]
    candidates = _of_script().get(_script(sample), ())
    if len(candidates) == 1:
        return candidates[0]
    words = _WORD.findall(unicodedata.normalize("NFKC", sample).replace("’", "'").lower())
    hits = {name: sum(word in patterns(name).common for word in words) for name in candidates}
    best = max(hits, key=lambda name: hits[name], default=None)
    return best if best is not None and hits[best] >= _LEAST_WORDS else None


def _script(sample: str) -> Script:
    """Return the script of most letters; kana settle what has Chinese characters as well."""
    if sample.isascii():
        return "Latin"
    counts = {name: len(letters.findall(sample)) for name, letters in _SCRIPTS.items()}
    if _LEAST_KANA * counts["Kana"] > counts["Han"]:
        counts["Han"] = 0
    return max(counts, key=lambda name: counts[name])


@cache
def _of_script() -> dict[Script, tuple[str, ...]]:
    """Return the known languages by script."""
    found: dict[Script, tuple[str, ...]] = {}
    for name in sorted(LANGUAGES):
        script = patterns(name).script
        found[script] = (*found.get(script, ()), name)
    return found
