"""Hostile text made safe to look at: what would be invisible, reorder the line or end a document is spelled out.

Model output may hold terminal escapes, NUL, direction overrides that show `evil` where `live` stands, or half a
surrogate pair that no UTF-8 file can hold. Each such character is shown as ``⟨U+202E⟩``; everything else is kept.
Zero-width joiners stay as they are, because emoji, Persian and the scripts of India need them.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import NamedTuple

_UNSAFE = re.compile(
    "["
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # controls, but not tab and newline
    "\u00ad\u061c\u180e\u200b\u200e\u200f"  # soft hyphen, marks of direction, zero-width space
    "\u2028-\u202e\u2060-\u206f"  # line and paragraph separators, overrides, isolates, invisible operators
    "\ufeff\ufff9-\ufffb\ufffe\uffff"  # byte-order mark, interlinear notes, noncharacters
    "\ud800-\udfff"  # lone surrogates
    "\U000e0000-\U000e007f"  # tag characters: a hidden copy of ASCII
    "]"
)
_CRLF = re.compile("\r\n?")


class Piece(NamedTuple):
    """A stretch of text: as it stands, or one unsafe character."""

    text: str
    unsafe: bool


def pieces(text: str) -> Iterator[Piece]:
    r"""Cut text into stretches that are safe to show and single characters that are not.

    >>> [piece.text for piece in pieces("a\x1b[31mb")]
    ['a', '\x1b', '[31mb']
    """
    text = _CRLF.sub("\n", text)
    start = 0
    for match in _UNSAFE.finditer(text):
        if match.start() > start:
            yield Piece(text[start : match.start()], unsafe=False)
        yield Piece(match[0], unsafe=True)
        start = match.end()
    if start < len(text):
        yield Piece(text[start:], unsafe=False)


def code_point(character: str) -> str:
    r"""Name a character by its code point.

    >>> code_point("\u202e")
    'U+202E'
    """
    return f"U+{ord(character):04X}"


def character_name(character: str) -> str:
    r"""Return the Unicode name of a character, or what kind of character has no name.

    >>> character_name("\u202e"), character_name("\x1b"), character_name("\ud83d")
    ('right-to-left override', 'control character', 'lone surrogate')
    """
    if "\ud800" <= character <= "\udfff":
        return "lone surrogate"
    return unicodedata.name(character, "control character").lower()


def visible(text: str) -> str:
    r"""Spell out every unsafe character, keep tabs and newlines.

    >>> visible("pay \u202e001$ now\x00")
    'pay ⟨U+202E⟩001$ now⟨U+0000⟩'
    """
    return "".join(f"⟨{code_point(piece.text)}⟩" if piece.unsafe else piece.text for piece in pieces(text))


def one_line(text: str, limit: int) -> str:
    r"""Return text as one visible line of at most `limit` characters.

    >>> one_line("first\n\tsecond", 100), one_line("abcdef", 4)
    ('first second', 'abc…')
    """
    # Whitespace is folded first; the cut comes last so that the limit holds for what is shown.
    flat = visible(" ".join(text[: 4 * limit].split()))
    return flat if len(flat) <= limit else flat[: limit - 1] + "…"


class Cut(NamedTuple):
    """The beginning of a text, and how many characters of it are not shown."""

    text: str
    left_out: int


def cut(text: str, limit: int) -> Cut:
    """Keep at most `limit` characters.

    >>> cut("abcdef", 4)
    Cut(text='abcd', left_out=2)
    """
    return Cut(text[:limit], max(0, len(text) - limit))
