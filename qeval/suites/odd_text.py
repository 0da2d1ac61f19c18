"""Text as it arrives damaged or oddly encoded: the same words to a reader, other code points to a program."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from html.entities import codepoint2name

ZERO_WIDTH_SPACE, SOFT_HYPHEN, NO_BREAK_SPACE, BYTE_ORDER_MARK = "\u200b", "\u00ad", "\u00a0", "\ufeff"
RIGHT_TO_LEFT_MARK, RIGHT_TO_LEFT_EMBEDDING, POP_DIRECTION = "\u200f", "\u202b", "\u202c"


def odd_forms() -> tuple[str, ...]:
    """Return the names of all forms."""
    return tuple(_FORMS)


def odd_text(text: str, form: str) -> str:
    """Return a text in an odd form.

    >>> odd_text("Zoë, 12", "mojibake"), odd_text("Zoë", "entities"), odd_text("Zoë", "decomposed") == "Zoe\u0308"
    ('ZoÃ«, 12', 'Zo&euml;', True)

    Raises:
        KeyError: there is no such form.
    """
    return _FORMS[form](text)


def _full_width(text: str) -> str:
    """Return printable ASCII as the wide forms of East Asian keyboards (U+FF01 to U+FF5E, U+3000)."""
    return "".join(
        "\u3000" if letter == " " else chr(ord(letter) + 0xFEE0) if "!" <= letter <= "~" else letter for letter in text
    )


def _entities(text: str) -> str:
    """Return the text with letters as HTML's named entities."""
    return "".join(f"&{codepoint2name[ord(letter)]};" if ord(letter) in codepoint2name else letter for letter in text)


def _mojibake(text: str) -> str:
    """Return UTF-8 read as if it were Latin-1."""
    return text.encode().decode("latin-1")


_FORMS: dict[str, Callable[[str], str]] = {
    "decomposed": lambda text: unicodedata.normalize("NFD", text),
    "full_width": _full_width,
    "zero_width": lambda text: ZERO_WIDTH_SPACE.join(text),
    "soft_hyphens": lambda text: SOFT_HYPHEN.join(text),
    "no_break": lambda text: BYTE_ORDER_MARK + text.replace(" ", NO_BREAK_SPACE),
    "direction_marks": lambda text: f"{RIGHT_TO_LEFT_EMBEDDING}{text}{POP_DIRECTION}{RIGHT_TO_LEFT_MARK}",
    "mojibake": _mojibake,
    "entities": _entities,
}
