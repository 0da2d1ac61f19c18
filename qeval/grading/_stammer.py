"""Find the places where a text stammers: a few letters or a word or two, four times or more in a row.

Damaged models do it again and again between other pieces of words. People write it once in a text, if at all.
"""

from __future__ import annotations

from collections.abc import Iterator
from operator import eq

import regex

from qeval.grading._loops import Loop

LEAST_TURNS = 4
LEAST_LENGTH = 16
"""Characters of all turns together."""
LONGEST_UNIT = 20
_MOST_WORDS = 4
"""That a unit of 20 characters has, next to always."""
_RUN = regex.compile(rf"([\p{{L}}\p{{M}}\p{{Zs}}'’.]{{1,{LONGEST_UNIT}}}?)\1{{{LEAST_TURNS - 1},}}+")
_LETTER = regex.compile(r"\p{L}")


def stammers(text: str) -> Iterator[Loop]:
    """Yield each run of a unit of letters, blanks, full stops and apostrophes; lines, digits and cells are none.

    >>> [run.text for run in stammers("today actlyactlyactlyactly much much much much much then")]
    ['actlyactlyactlyactly', ' much much much much much']
    """
    if not _may_stammer(text):
        return
    for found in _RUN.finditer(text):
        run = Loop(found[0], len(found[1]))
        # One letter alone is a number, a placeholder or a cry.
        if len(run.text) >= LEAST_LENGTH and len(set(run.unit)) > 1 and _LETTER.search(run.unit):
            yield run


def _may_stammer(text: str) -> bool:
    """Rule out most texts by their words, since looking for runs takes a hundred times as long."""
    words = text.split()
    if any(len(word) >= LEAST_LENGTH and _RUN.search(word) for word in words):
        return True
    turns = LEAST_TURNS - 1
    return any(sum(map(eq, words, words[n:])) >= turns * n - 1 for n in range(1, _MOST_WORDS + 1))
