r"""Text as a rule should see it, with the way back to the text as it was written.

`name＠example．org`, `name&#64;example.org`, `name%40example.org` and `na<zero-width space>me@example.org` are one
address, so rules look at a form in which they are the same. What they find there is then replaced in the source, and
everything else in it stays as it is.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from html import unescape
from typing import NamedTuple

_ESCAPE = re.compile(
    r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});"
    r"|(?:%[0-9a-fA-F]{2})+"
    r"|\\u[0-9a-fA-F]{4}|\\x[0-9a-fA-F]{2}"
)
_MOST_PASSES = 3
"""Times that escapes are undone: of `&amp;#64;` there are two layers."""
_SAME_CHARACTER = ("<wide>", "<narrow>", "<small>", "<noBreak>", "<font>")
"""Decompositions that are the same character in another shape; a superscript or a fraction is another one."""
_QUOTES = dict.fromkeys("‘’‚‛′＇", "'") | dict.fromkeys("“”„‟″«»", '"')


class Normal(NamedTuple):
    """A normal form and, for each of its characters, where it came from."""

    text: str
    starts: tuple[int, ...] | None
    """Index in the source of the first character behind each; None where both have the same length."""
    ends: tuple[int, ...] | None
    """Index in the source after the last character behind each."""

    def source_span(self, start: int, end: int) -> tuple[int, int]:
        """Return the span of the source behind a span of the normal form that is not empty."""
        if self.starts is None or self.ends is None:
            return start, end
        return self.starts[start], self.ends[end - 1]


class _Part(NamedTuple):
    text: str
    start: int
    end: int


def normalise(source: str) -> Normal:
    r"""Undo escapes, drop what is invisible, and write alike what looks alike: widths, digits, blanks, dashes, quotes.

    >>> normalise("ａ＠b&#46;c\u200bd ٤–٢").text
    'a@b.cd 4-2'
    >>> normalise("to ａ&#64;b.").source_span(3, 5)
    (3, 9)
    """
    if _ESCAPE.search(source) is None:
        plain = list(map(_plain, source)) if not source.isascii() else source
        if all(plain):
            # One character for each, so that places are the same.
            return Normal("".join(plain), None, None)
    parts = [_Part(character, at, at + 1) for at, character in enumerate(source)]
    for _ in range(_MOST_PASSES):
        text = "".join(part.text for part in parts)
        if _ESCAPE.search(text) is None:
            break
        parts = list(_unescaped(text, parts))
    shown = [_Part(same, part.start, part.end) for part in parts if (same := _plain(part.text))]
    return Normal("".join(p.text for p in shown), tuple(p.start for p in shown), tuple(p.end for p in shown))


def _unescaped(text: str, parts: list[_Part]) -> Iterator[_Part]:
    """Undo one layer of escapes; every part holds one character."""
    at = 0
    for found in _ESCAPE.finditer(text):
        yield from parts[at : found.start()]
        yield from _decoded(found[0], parts[found.start() : found.end()])
        at = found.end()
    yield from parts[at:]


def _decoded(escape: str, parts: list[_Part]) -> Iterator[_Part]:
    if escape[0] == "%":
        yield from _percent(escape, parts)
        return
    text = unescape(escape) if escape[0] == "&" else chr(int(escape[2:], 16))
    if text == escape:
        yield from parts
        return
    for character in text:
        yield _Part(character, parts[0].start, parts[-1].end)


def _percent(escape: str, parts: list[_Part]) -> Iterator[_Part]:
    try:
        text = bytes.fromhex(escape.replace("%", "")).decode("utf-8")
    except UnicodeDecodeError:
        yield from parts
        return
    at = 0
    for character in text:
        behind = parts[at : (at := at + 3 * len(character.encode("utf-8")))]
        yield _Part(character, behind[0].start, behind[-1].end)


@lru_cache(8192)
def _plain(character: str) -> str:
    """Return a character as it is compared; empty for what is invisible, such as a zero-width space."""
    if character.isascii():
        return character
    category = unicodedata.category(character)
    if category == "Cf" or character in "\u034f\u115f\u1160\u17b4\u17b5\u3164" or 0xFE00 <= ord(character) <= 0xFE0F:
        return ""
    if category == "Nd":
        return str(unicodedata.decimal(character))
    if category == "Zs":
        return " "
    kind, _, rest = unicodedata.decomposition(character).partition(" ")
    if kind in _SAME_CHARACTER and " " not in rest:
        character = chr(int(rest, 16))
        category = unicodedata.category(character)
    if category == "Pd" or character == "\u2212":
        return "-"
    return _QUOTES.get(character, character)
