"""Hold a text against the language asked for: py3langid's model, and characters and words where it cannot tell."""

from __future__ import annotations

import math
from collections import Counter
from functools import cache, lru_cache
from typing import TYPE_CHECKING

import regex

from qeval.grading._languages import Target, close_to, telling_words, variety_of

if TYPE_CHECKING:
    from py3langid.langid import LanguageIdentifier

_NO_LANGUAGE = "zxx"
_WORD = regex.compile(r"\p{L}[\p{L}\p{M}]*")
_KANA = regex.compile(r"[\p{Hiragana}\p{Katakana}]")
_HAN = regex.compile(r"\p{Han}")
_CHINESE = frozenset("的了是在我们們你您这這那吗嗎呢吧着著很么麼没沒她它让讓给給")
"""Characters that Chinese sentences are full of and Japanese ones, in kana, are not."""
_KANA_SHARE = 0.1
"""Share of kana above which a text is not Chinese."""
_CHINESE_SHARE = 0.06
_LEAST_CHARACTERS = 3
_LEAST_WORDS = 3
_TIMES = 3
"""Words (characters) of the other language, against one of the own, that are strong evidence."""


def other_language(text: str, target: Target, least_odds: float) -> str | None:
    """Return the language a text is in where that is not the one asked for; None where it is, or may be.

    Args:
        text: in the scripts of the language asked for.
        target: the language asked for, which the model knows.
        least_odds: decadic logarithm of how many times likelier than the language asked for another must be.
    """
    if target.language in {"ja", "zh"}:
        return _chinese_or_japanese(text, target.language)
    likelihoods = _likelihoods(text)
    own = max(likelihoods[name] for name in close_to(target.language))
    others = {name: n for name, n in likelihoods.items() if name not in close_to(target.language)}
    best = max(others, key=lambda name: others[name])
    if best == _NO_LANGUAGE or others[best] <= 0:
        return None
    if own <= 0:
        return best
    # The model counts bytes and divides its evidence by the root of their number, which belittles scripts of two and
    # three bytes a letter.
    bytes_each = len(text.encode("utf-8", "replace")) / len(text)
    return best if math.log10(others[best] / own) * math.sqrt(bytes_each) >= least_odds else None


@lru_cache(maxsize=256)
def _likelihoods(text: str) -> Counter[str]:
    """Return how likely each language is; kept for a while, since the answers of variants are mostly the same."""
    likelihoods: Counter[str] = Counter()
    for label, likelihood in _model().rank(text):
        likelihoods[variety_of(label)] += likelihood
    return likelihoods


def close_language(text: str, target: Target) -> str | None:
    """Return the close relative of the language asked for whose words a text uses; None without strong evidence."""
    words = set(_WORD.findall(text.lower()))
    used = {names: len(words & telling) for names, telling in telling_words(target.language).items()}
    against = {names: n for names, n in used.items() if target.language not in names.split() and n}
    favour = sum(n for names, n in used.items() if target.language in names.split())
    if sum(against.values()) < max(_LEAST_WORDS, _TIMES * favour + 1):
        return None
    return max(against, key=lambda names: against[names]).split()[0]


def other_characters(text: str, target: Target) -> str | None:
    """Return `Hans` or `Hant` where a Chinese text is in those characters and the tag asks for the others.

    A character of GB 2312 that Big5 lacks is simplified, and the other way round. Many are in both.
    """
    han = _HAN.findall(text)
    simplified = sum(_in(c, "gb2312") and not _in(c, "big5") for c in han)
    traditional = sum(_in(c, "big5") and not _in(c, "gb2312") for c in han)
    own, other = (simplified, traditional) if target.characters == "Hans" else (traditional, simplified)
    if target.characters is None or other < max(_LEAST_CHARACTERS, _TIMES * own + 1):
        return None
    return "Hant" if target.characters == "Hans" else "Hans"


def _chinese_or_japanese(text: str, language: str) -> str | None:
    """Kana tells Japanese from Chinese; without kana, only characters that make up Chinese sentences do."""
    n_kana, han = len(_KANA.findall(text)), _HAN.findall(text)
    if language == "zh":
        return "ja" if n_kana and n_kana >= _KANA_SHARE * (n_kana + len(han)) else None
    chinese = sum(c in _CHINESE or not _in(c, "shift_jis_2004") for c in han)
    few_kana = n_kana < _KANA_SHARE * (n_kana + len(han))
    return "zh" if few_kana and chinese >= max(2, _CHINESE_SHARE * len(han)) else None


def _in(character: str, encoding: str) -> bool:
    try:
        return bool(character.encode(encoding))
    except UnicodeEncodeError:
        return False


@cache
def _model() -> LanguageIdentifier:
    """Load the model that lies in py3langid's package."""
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
