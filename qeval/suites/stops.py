r"""Stop texts: where an answer ends, found in whatever width or normal form the model wrote it.

Text is compared in NFKC with line ends as `\n`, character by character as people see them, so that `问题：` ends an
answer whose case says `问题:`, and a blank line is one with CRLF too.
"""

from __future__ import annotations

import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

import regex

_CHARACTER = regex.compile(r"\X")


class Span(NamedTuple):
    """Where a stop text stands: from `start` up to and without `end`, in code points."""

    start: int
    end: int


def find_stop(text: str, stops: Sequence[str]) -> Span | None:
    r"""Return the first place of any of the stop texts, the longest where several begin there; None where none stands.

    >>> find_stop("答案是 18。\n问题：下一个", ["问题:"]), find_stop("18\r\n\r\nQ: next", ["\n\n"])
    (Span(start=8, end=11), Span(start=2, end=6))
    """
    if not stops:
        return None
    characters = _CHARACTER.findall(text)
    pieces = [_plain(character) for character in characters]
    plain = "".join(pieces)
    wanted = ["".join(map(_plain, _CHARACTER.findall(stop))) for stop in stops]
    found = [(start, -len(stop)) for stop in wanted if (start := plain.find(stop)) >= 0]
    if not found:
        return None
    start, length = min(found)
    begins = list(accumulate(map(len, pieces), initial=0))
    places = list(accumulate(map(len, characters), initial=0))
    return Span(places[bisect_right(begins, start) - 1], places[bisect_left(begins, start - length)])


def _plain(character: str) -> str:
    return "\n" if character in {"\r\n", "\r"} else unicodedata.normalize("NFKC", character)
