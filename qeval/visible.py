"""Hostile text made safe to look at: what would be invisible, reorder the line or end a document is spelled out.

Model output may hold terminal escapes, NUL, direction overrides that show `evil` where `live` stands, or half a
surrogate pair that no UTF-8 file can hold. Each such character is shown as ``⟨U+202E⟩``; everything else is kept.
Zero-width joiners stay as they are, because emoji, Persian and the scripts of India need them.
"""

from __future__ import annotations

import re
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


def visible(text: str) -> str:
    r"""Spell out every unsafe character, keep tabs and newlines.

    >>> visible("pay \u202e001$ now\x00")
    'pay ⟨U+202E⟩001$ now⟨U+0000⟩'
    """
    return "".join(f"⟨{code_point(piece.text)}⟩" if piece.unsafe else piece.text for piece in pieces(text))
