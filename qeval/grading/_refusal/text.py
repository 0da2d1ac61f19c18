"""An answer as sentences in normal form: lower case, straight apostrophes, no Markdown, no quoted speech."""

from __future__ import annotations

import unicodedata

import regex

LONGEST = 6_000
"""Characters read of an answer."""
_LONGEST_SENTENCE = 600
_APOSTROPHES = regex.compile("[’‘ʼ`´]")
_JOINERS = regex.compile("[\u200c\u200d]")
"""Persian writes a zero-width non-joiner where others write a blank."""
_HARAKAT = regex.compile("[\u064b-\u0652\u0640]")
"""Arabic vowel signs and the stretching stroke: writing them is a matter of taste."""
_DOT = "\u0307"
"""What lower case makes of the Turkish capital İ."""
_MARKDOWN = regex.compile(r"[*_#>|~]+")
_QUOTED = regex.compile(
    r"(?<!\w)'(?=\w)(?:[^'\n]|(?<=\w)'(?=\w)){1,400}(?<=[,.!?…])'(?!\w)"
    r"|\"[^\"\n]{1,400}\"|“[^”\n]{1,400}”|«[^»\n]{1,400}»|„[^“”\n]{1,400}[“”]|「[^」\n]{1,400}」|『[^』\n]{1,400}』"
    r"|^—[^—\n]{1,400}—",
    regex.MULTILINE,
)
_SENTENCE = regex.compile(
    r"(?<=[.!?…])(?<!(?:^|\n)\s*\d{1,2}\.)[\s\"')]+|(?<=[。！？؟।])\s*|\n+"
    r"|(?<=[!?])(?=[\u3040-\u9fff])|(?<=[\u0e00-\u0e7f]) +(?=[\u0e00-\u0e7f])"
)
"""Thai has no full stop: a blank ends a clause."""
_LIST_ITEM = regex.compile(r"^\s*(?:[-•*]|\d{1,2}[.)]|[a-z][.)])\s+\S")
_CODE = regex.compile(r"```.*?(?:```|\Z)", regex.DOTALL)
_LETTER = regex.compile(r"[\p{L}\p{Mn}\p{Mc}\p{Nd}]")
_DENSE = regex.compile(r"[\u2e80-\ud7a3]")
_THAI = regex.compile(r"[\u0e00-\u0e7f]")


def split(text: str) -> list[str]:
    """Return the sentences of an answer, quoted speech replaced by a mark, without those that hold no letter."""
    code = _CODE.sub("\n- code given here\n", text[:LONGEST])
    plain = _APOSTROPHES.sub("'", _JOINERS.sub(" ", unicodedata.normalize("NFKC", code)))
    spoken = _QUOTED.sub(_quoted, _HARAKAT.sub("", plain))
    return [piece.strip() for piece in _SENTENCE.split(spoken) if piece and any(map(str.isalnum, piece))]


def is_item(sentence: str) -> bool:
    """Return whether a sentence is an item of a list."""
    return _LIST_ITEM.match(sentence) is not None


def normal(sentence: str) -> str:
    """Return a sentence as patterns see it."""
    lower = _MARKDOWN.sub("", sentence[:_LONGEST_SENTENCE]).lower().replace(_DOT, "")
    return " ".join(lower.split()).strip(" \"'-•(")


def letters(text: str) -> int:
    """Return the length in letters, vowel signs and digits; those of dense scripts count for more."""
    dense = len(_DENSE.findall(text))
    return len(_LETTER.findall(text)) + 2 * dense + len(_THAI.findall(text))


def _quoted(found: regex.Match[str]) -> str:
    """Put a mark for quoted speech, an item for a text given after a colon; keep what is all of the answer."""
    before, after = found.string[: found.start()], found.string[found.end() :]
    if sum(map(str.isalpha, before + after)) <= 3:
        return found[0][1:-1]
    return "\n- q\n" if before.rstrip().endswith(":") else "q"
