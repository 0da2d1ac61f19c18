"""The letters of a text by script, and what of a text is in no language: code, addresses, names in Latin letters."""

from __future__ import annotations

import unicodedata
from collections import Counter
from functools import lru_cache

import regex

from qeval.grading._languages import english_in_sentences, known_scripts, within_names

LONGEST_READ = 50_000
"""Characters of an answer that are read: of a longer one the first and the last half of so many."""
_WIDE = frozenset({"Han", "Hiragana", "Katakana", "Hangul"})
_WORTH = 3
"""A character of these scripts says about as much as three letters of an alphabet."""
_WORD = regex.compile(r"[\p{L}\p{M}]+")
_LETTER = {script: regex.compile(rf"\p{{{script}}}") for script in known_scripts()}
_NOT_PROSE = regex.compile(
    r"```.*?(?:```|\Z)|`[^`\n]*`|\$\$.*?\$\$|\$[^$\n]{1,200}\$(?!\d)|\\[A-Za-z]+|https?://\S+|www\.\S+"
    r"|[\w.+-]{1,64}+@[\w.-]+|<[^<>\n]{1,80}>",
    regex.DOTALL,
)
_QUOTED = regex.compile(
    r"\"[^\"\n]{1,400}\"|“[^”\n]{1,400}”|«[^»\n]{1,400}»|»[^«\n]{1,400}«|„[^“”\n]{1,400}[“”]|「[^」\n]{1,400}」"
    r"|『[^』\n]{1,400}』|《[^》\n]{1,400}》"
)
_GLOSS = regex.compile(r"\([^()\n]{1,60}\)|（[^（）\n]{1,60}）")
"""Short brackets: in another script, they hold the original of a name or a word."""
_COMMAND = regex.compile(r"(?<!\S)--\p{Latin}")
_LATIN_RUN = regex.compile(r"\p{Latin}(?:[^\p{L}\n]|\p{Latin})*")
_LATIN_WORD = regex.compile(r"(?<![\p{L}\p{M}\p{N}])\p{Latin}[\p{Latin}\p{M}]+")
_LIST_MARK = regex.compile("[,;/、]")
_LEAST_PROSE = 3
"""Latin words that make a sentence instead of a name or a term."""


def prose(text: str) -> str:
    """Return the text in NFKC without code, formulas, addresses and tags, which are in no language.

    >>> prose("Es heißt `x = 1`, siehe https://example.org")
    'Es heißt  , siehe  '
    """
    if len(text) > LONGEST_READ:
        text = f"{text[: LONGEST_READ // 2]}\n{text[-LONGEST_READ // 2 :]}"
    return unicodedata.normalize("NFKC", _NOT_PROSE.sub(" ", text))


def without_quotations(text: str, scripts: frozenset[str]) -> tuple[str, int]:
    """Return a text without what it quotes, and how many letters of other scripts were quoted.

    Short brackets in another script count as quotations. Quotations in the scripts asked for are left where they are
    more than half of the text, for then they are the answer itself.

    >>> without_quotations("「ありがとう」は英語で「Thank you」です（thanks）", frozenset({"Hiragana", "Han"}))
    (' は英語で です ', 14)
    """

    def is_own(passage: str) -> bool:
        counts = count_letters(passage)
        return 2 * sum(counts[script] for script in scripts) >= counts.total()

    kept = _GLOSS.sub(lambda found: found[0] if is_own(found[0]) else " ", text)
    kept = _QUOTED.sub(lambda found: found[0] if is_own(found[0]) else " ", kept)
    n_kept = count_letters(kept).total()
    unquoted = _QUOTED.sub(" ", kept)
    own_is_the_answer = 2 * count_letters(unquoted).total() < n_kept
    return kept if own_is_the_answer else unquoted, count_letters(text).total() - n_kept


@lru_cache(maxsize=8192)
def script_of(character: str) -> str | None:
    """Return the Unicode name of a letter's or mark's script; None for other characters and scripts unknown here."""
    return next((script for script, letter in _LETTER.items() if letter.match(character)), None)


def count_letters(text: str) -> Counter[str]:
    """Return how many letters of each script a text has, a Chinese, Japanese or Korean character counting as three.

    Single letters of an alphabet are mostly variables and labels, so they do not count.

    >>> count_letters("für x und 東京")
    Counter({'Latin': 6, 'Han': 6})
    """
    counts: Counter[str] = Counter()
    words = (word for word in _WORD.findall(text) if len(word) > 1 or script_of(word) in _WIDE)
    for character, n in Counter("".join(words)).items():
        script = script_of(character)
        if script is not None:
            counts[script] += n * (_WORTH if script in _WIDE else 1)
    return counts


def count_words(text: str) -> int:
    """Return the number of words: stretches of letters."""
    return len(_WORD.findall(text))


def only(text: str, scripts: frozenset[str]) -> str:
    """Return a text with the letters and marks of other scripts blanked out."""
    return "".join(c if script_of(c) in scripts or not (c.isalpha() or script_of(c)) else " " for c in text)


def without_names(text: str) -> tuple[str, int]:
    """Return a text without its names and terms in Latin letters, and how many letters these had.

    For text in another script. A stretch of Latin letters is a sentence where three of its words in a row, besides the
    small words within names, begin with a small letter, or where it has three words, one of them such as "is" or "you".

    >>> without_names("映画祭は Sundance Film Festival です"), without_names("The answer is 42. はい")[1]
    (('映画祭は  です', 20), 0)
    """
    taken = 0

    def name_or_sentence(found: regex.Match[str]) -> str:
        nonlocal taken
        if _is_sentence(found[0]):
            return found[0]
        taken += count_letters(found[0]).total()
        return " "

    return _LATIN_RUN.sub(name_or_sentence, text), taken


def _is_sentence(run: str) -> bool:
    """Return whether a stretch of Latin letters within another script is a sentence, not a name, term or command."""
    if _COMMAND.search(run):
        return False
    words = _LATIN_WORD.findall(run)
    if len(words) >= _LEAST_PROSE and not english_in_sentences().isdisjoint(words):
        return True
    for item in _LIST_MARK.split(run):
        small = [word for word in _LATIN_WORD.findall(item) if word.islower() and word not in within_names()]
        if len(small) >= _LEAST_PROSE:
            return True
    return False


def is_prose(text: str, least_words: int = 3) -> bool:
    """Return whether a text reads like sentences: a third of its words begin with a small letter, or all are capitals.

    Lists of names and titles do not. In scripts without capitals every text of a few words does.
    """
    words = _WORD.findall(text)
    if len(words) < least_words:
        return False
    return 3 * sum(not word[0].isupper() for word in words) >= len(words) or text.isupper()
