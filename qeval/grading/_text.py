"""Text made comparable: what counts as the same word in a language, and what does not.

Normal form: NFKC (half- and full-width, ligatures), invisible characters removed, digits of any script as 0-9, case
folded by the language's rules, what only looks or is typed differently made one, blanks collapsed (removed where the
language writes none), surrounding punctuation and Markdown removed. Accents are never removed; Arabic and Hebrew vowel
points, which writers add or leave out at will, are.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache

import regex

from qeval.grading._spelling import is_kept_apart, pattern, unified

_INVISIBLE = regex.compile(r"\p{Default_Ignorable_Code_Point}")
"""Marks of direction and zero width, joiners, soft hyphens, variation selectors, fillers."""
_TATWEEL = "\u0640"
_LETTERS = regex.compile(r"\p{L}+")
_POINTS = regex.compile("[\u064b-\u0655\u0670\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7]")
_DIGIT = regex.compile(r"[^\P{Nd}0-9]")
_BLANKS = regex.compile(r"\s+")
_PERCENT = regex.compile(r"(?<=\d)\s+%")
_BLANK_LANGUAGES = "be bg ca cs es et fi fr hu hy it ka kk lt lv nb nn no pl pt ru sk sv uk"
BLANK_GROUPS = frozenset(_BLANK_LANGUAGES.split())
"""Languages that write a blank between groups of three digits."""
_SPACELESS = frozenset({"zh", "ja", "th", "lo", "km", "my"})
_SPACELESS_SCRIPT = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
_ALPHABETS = ("Latin", "Greek", "Cyrillic")
_BLANKS_BETWEEN = (
    *_ALPHABETS, "Arabic", "Hebrew", "Devanagari", "Bengali", "Tamil", "Telugu", "Armenian", "Georgian",
)  # fmt: skip
"""Scripts that write blanks between words."""
_OF_SCRIPT = {script: regex.compile(rf"\p{{{script}}}") for script in _BLANKS_BETWEEN}
_SHORT = 3
_DASH_OF_A_NUMBER = regex.compile(r"[–—](?<![\p{L}\p{N})\]%]\s?[–—])(?=[.]?\d)")
_DASH = regex.compile(r"[–—‒―](?<=\S\s?[–—‒―])(?=\s?\S)")
_SUPERSCRIPT = regex.compile(r"(?<=\p{Nd})[⁺⁻]?[⁰¹²³⁴⁵⁶⁷⁸⁹]+")
_VULGAR_AFTER_DIGIT = regex.compile(r"(?<=\p{Nd}) ?(?=[¼½¾⅐-⅞↉])")
_TOKEN = regex.compile(rf"[{_SPACELESS_SCRIPT}]|[^\W{_SPACELESS_SCRIPT}]+", regex.VERSION1)

_EDGE = (
    "\"'“”„‟‘’‚‛«»‹›「」『』《》〈〉〝〞()[]{}【】〔〕*_`~!?…。、，；：！？،؛؟।॥۔·—–¿¡:;"
    "‼⁇⁈⁉⸮։׃፡።፣፤፥፦፧၊။។៕།༎᠂᠃܀᱾᱿߹"
    " \t\n\r\v\f\x1c\x1d\x1e\x1f\x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)
_SAME = str.maketrans(
    {
        "’": "'", "‘": "'", "‛": "'", "ʼ": "'", "`": "'", "´": "'",
        "“": '"', "”": '"', "„": '"', "‟": '"', "«": '"', "»": '"',
        "٪": "%", "‰": "‰", "−": "-", "‐": "-", "‑": "-", "⁃": "-", "﹣": "-", "－": "-",
        "٫": ".", "٬": ",",
    }
)  # fmt: skip
_ARTICLES = {
    "en": ("a", "an", "the"),
    "de": ("der", "die", "das", "den", "dem", "des", "ein", "eine", "einen", "einem", "einer", "eines"),
    "fr": ("le", "la", "les", "l'", "un", "une", "des", "du"),
    "es": ("el", "la", "los", "las", "un", "una", "unos", "unas"),
    "it": ("il", "lo", "la", "i", "gli", "le", "l'", "un", "uno", "una", "un'"),
    "pt": ("o", "a", "os", "as", "um", "uma", "uns", "umas"),
    "nl": ("de", "het", "een"),
    "sv": ("en", "ett"),
    "da": ("en", "et"),
    "nb": ("en", "et", "ei"),
    "ca": ("el", "la", "els", "les", "l'", "un", "una"),
}


def base_language(language: str | None) -> str | None:
    """Return the primary subtag of a BCP 47 tag, in lower case.

    >>> base_language("pt-BR"), base_language(None)
    ('pt', None)
    """
    return language.replace("_", "-").split("-")[0].lower() if language else None


_AFTER_A_GROUP = r"(?!\d{3}(?!\d)(?<=(?<!\d)\d{1,3} \d{3}))"
_BEFORE_A_GROUP = r"(?! \d{3}(?!\d))"


def ascii_digits(text: str) -> str:
    """Return the text with decimal digits of any script written as 0-9.

    >>> ascii_digits("١٨ और १८")
    '18 और 18'
    """
    return _DIGIT.sub(lambda found: str(unicodedata.decimal(found[0], found[0])), text)


def without_marks(text: str) -> str:
    """Remove invisible characters and the Arabic stretching stroke, which carry no meaning."""
    return _INVISIBLE.sub("", text).replace(_TATWEEL, "")


def fold_case(text: str, language: str | None) -> str:
    """Fold case by the language's rules: in Turkish and Azerbaijani I belongs to ı and İ to i.

    >>> fold_case("IŞIK", "tr"), fold_case("Straße", "de"), fold_case("in Maßen", "de"), fold_case("in Massen", "de")
    ('ışık', 'strasse', 'in maßen', 'in massen')
    """
    lang = base_language(language)
    if lang in {"tr", "az"}:
        # The dot is what lower case without a language makes of İ.
        text = unicodedata.normalize("NFC", text).replace("İ", "i").replace("i\u0307", "i").replace("I", "ı")
    if lang == "de" and "ß" in text and not (language or "").upper().endswith(("-CH", "-LI")):
        return _LETTERS.sub(lambda found: _fold_german(found[0]), text)
    return text.casefold()


def _fold_german(word: str) -> str:
    return word.lower() if is_kept_apart(word.lower(), "de") else word.casefold()


def fold(text: str, language: str | None = None) -> str:
    """Return the normal form of a text, its surrounding punctuation kept.

    >>> fold("Fuß"), fold("１２３ＡＢＣ"), fold("A 组", "zh"), fold("10³"), fold("2½")
    ('fuss', '123abc', 'a组', '10^3', '2 1/2')
    """
    lang = base_language(language)
    text = _SUPERSCRIPT.sub(lambda found: f"^{found[0]}", _VULGAR_AFTER_DIGIT.sub(" ", text))
    folded = unified(unicodedata.normalize("NFKC", text), lang)
    folded = _POINTS.sub("", ascii_digits(without_marks(folded).translate(_SAME)))
    folded = _DASH.sub("-", _DASH_OF_A_NUMBER.sub("-", folded))
    folded = unicodedata.normalize("NFKC", fold_case(_PERCENT.sub("%", folded), language))
    # Where a blank or an invisible character went, a mark may have come beside its letter.
    folded = unicodedata.normalize("NFC", _BLANKS.sub("" if lang in _SPACELESS else " ", folded)).strip()
    return unicodedata.normalize("NFC", unified(folded, lang))


def trim(text: str) -> str:
    """Remove surrounding punctuation, quotes, brackets and Markdown, but never the whole text.

    >>> trim("「東京」"), trim("**42.**"), trim("-5 %"), trim(".5"), trim("...")
    ('東京', '42', '-5 %', '.5', '...')
    """
    trimmed = text.rstrip(f"{_EDGE}.,")
    while trimmed != (shorter := trimmed.lstrip(_EDGE)) or (trimmed[:1] in {".", ","} and not trimmed[1:2].isdigit()):
        trimmed = shorter.lstrip(".,") if shorter[:1] in {".", ","} and not shorter[1:2].isdigit() else shorter
    return trimmed or text.strip()


def answer_form(text: str, language: str | None = None) -> str:
    """Return the form in which whole answers are compared: folded, trimmed, without a leading article.

    Only articles of the item's own language are removed.

    >>> answer_form("The X.", "en"), answer_form("die A 8", "de"), answer_form("die A 8", "en")
    ('x', 'a 8', 'die a 8')
    """
    folded = trim(fold(text, language))
    for article in _ARTICLES.get(base_language(language) or "", ()):
        lead = article if article.endswith("'") else f"{article} "
        if folded.startswith(lead) and len(folded) > len(lead):
            return folded[len(lead) :].lstrip()
    return folded


def tokens(text: str, language: str | None = None) -> list[str]:
    """Return the words of a folded text; one token a character in scripts that write no blanks.

    >>> tokens("今天雨"), tokens("the red fox")
    (['今', '天', '雨'], ['the', 'red', 'fox'])
    """
    return _TOKEN.findall(fold(text, language))


def holds(folded_text: str, value: str, language: str | None = None) -> bool:
    """Return whether a folded text holds a value.

    A value that begins or ends with a digit is not found inside a longer number ("5" in "15", "1.5", "-5");
    a short word (three Latin, Greek or Cyrillic letters or fewer) is not found inside a longer word of its script.

    >>> holds(fold("Room 15, at 5 p.m."), "5"), holds(fold("Room 15"), "5"), holds(fold("I know"), "no")
    (True, False, False)
    >>> holds(fold("NBAです", "ja"), "NBA", "ja"), holds(fold("KBS가 맞아요", "ko"), "KBS", "ko")
    (True, True)
    """
    return _finder(value, language).search(folded_text) is not None


def edges(word: str) -> tuple[str, str]:
    """Return patterns for what is before and after a word that stands alone: no letter of its own script.

    In a script without blanks there is nothing to look for: a word is found wherever it is written.

    >>> [bool(regex.search("no".join(edges("no")), text)) for text in ("no", "know", "答案是no。")]
    [True, False, True]
    """
    first, last = _blanks_between(word[0]), _blanks_between(word[-1])
    before = rf"(?<!\p{{{first}}}\p{{M}}*+)" if first else ""
    return before, rf"(?![\p{{{last}}}\p{{M}}])" if last else ""


def _blanks_between(letter: str) -> str | None:
    return next((script for script, pattern in _OF_SCRIPT.items() if pattern.match(letter)), None)


@lru_cache(maxsize=1024)
def _finder(value: str, language: str | None) -> regex.Pattern[str]:
    wanted = trim(fold(value, language))
    before = after = ""
    if len(wanted) <= _SHORT and all(c.isdigit() or _blanks_between(c) in _ALPHABETS for c in wanted):
        before, after = edges(wanted)
    groups = base_language(language) in BLANK_GROUPS
    if wanted[0].isdigit():
        before = r"(?<!\d)(?<!\d[.,'^])(?<!(?:^|[^\w])-)" + (_AFTER_A_GROUP if groups else "")
    if wanted[-1].isdigit():
        after = r"(?!\d)(?![.,'^]\d)(?!k(?!\p{L}))" + (_BEFORE_A_GROUP if groups else "")
    # A nukta makes another letter of the one before it.
    return regex.compile(before + pattern(wanted, base_language(language)) + after + "(?!\u093c)")
