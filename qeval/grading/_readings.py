"""The ways in which an answer is read to find a loop at its end."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import regex

CUT_CHARACTER = 3
"""Replacement characters that one character, cut at the limit between its tokens, leaves at most."""

_ENDS = " .!?…。！？؟।"
"""What may end a sentence: a loop that ends by itself often does with one."""
_LIST_MARK = regex.compile(r"(?m)(?:^[ \t]*|(?<=[.!?。！？]\s))[(\[]?\d{1,4}(?:[.):\]]*\Z|[.):\]]+[ \t]+|[、．）]\s*)")
_LISTED = regex.compile(r"\d[.):\]、．）]")
_QUOTED_END = regex.compile(r"\"((?:[^\"\\]|\\.)*+)\"[\s\]})>]*+(?:</\w+>)?\s*+\Z")


class Reading(NamedTuple):
    """One way to read an answer: blanks collapsed, and something left out."""

    text: str
    listed: bool = False
    """Whether the numbers of a list were left out."""
    before: str = ""
    """What stands before it in the answer."""


def without_cut_character(text: str) -> str:
    """Return a text without the rest of a character that the limit cut."""
    short = text.rstrip("\ufffd")
    return short if len(text) - len(short) <= CUT_CHARACTER else text


def readings(text: str) -> Iterator[Reading]:
    """Yield the ways to read a text: as it is, without its last full stop, without list numbers, its last string."""
    plain = _collapsed(text)
    yield Reading(plain)
    short = plain.rstrip(_ENDS)
    if short not in {"", plain}:
        yield Reading(short)
    unlisted = _collapsed(_LIST_MARK.sub("", text)) if _LISTED.search(text) else plain
    if unlisted != plain:
        yield Reading(unlisted, listed=True)
    quoted = _QUOTED_END.search(text) if plain.endswith(('"', "}", "]", ">", ")")) else None
    if quoted is not None:
        yield Reading(_collapsed(quoted[1]), before=text[: quoted.start()])


def _collapsed(text: str) -> str:
    return " ".join(text.split())
