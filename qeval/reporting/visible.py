"""Text made ready for a report: safe to look at, on one line, or cut to a length."""

from __future__ import annotations

import unicodedata
from typing import NamedTuple

from qeval.visible import code_point as code_point
from qeval.visible import pieces as pieces
from qeval.visible import visible as visible


def character_name(character: str) -> str:
    r"""Return the Unicode name of a character, or what kind of character has no name.

    >>> character_name("\u202e"), character_name("\x1b"), character_name("\ud83d")
    ('right-to-left override', 'control character', 'lone surrogate')
    """
    if "\ud800" <= character <= "\udfff":
        return "lone surrogate"
    return unicodedata.name(character, "control character").lower()


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
