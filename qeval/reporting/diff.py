"""Which words of two answers differ, for highlighting them side by side."""

from __future__ import annotations

import re
from collections import Counter
from difflib import SequenceMatcher
from typing import NamedTuple

_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]\s*|\w+\s*|[^\w\s]\s*|\s+")
"""A word with the blanks after it; scripts written without blanks are cut by character."""
_MOST_WORDS = 600
_MOST_MATCHES = 20_000
"""Pairs of equal words: a model that loops makes matching take seconds. Beyond either, nothing is highlighted."""
_LEAST_ALIKE = 0.2
"""Below this share of common words, highlights would cover everything and help nobody."""


class Span(NamedTuple):
    """A stretch of one text, and whether the other text lacks it."""

    text: str
    differs: bool


class Sides(NamedTuple):
    """Both texts, cut into spans."""

    left: list[Span]
    right: list[Span]


def word_diff(left: str, right: str) -> Sides:
    """Cut two texts into spans that are common and spans that differ.

    Joined, the spans of a side are its text again. Texts that are equal, very long or wholly unlike come back as
    one span each, not highlighted.

    >>> word_diff("replaced in March.", "replaced in May.").right
    [Span(text='replaced in ', differs=False), Span(text='May', differs=True), Span(text='.', differs=False)]
    """
    plain = Sides([Span(left, differs=False)], [Span(right, differs=False)])
    words = _WORD.findall(left), _WORD.findall(right)
    if left == right or max(map(len, words)) > _MOST_WORDS or _matches(*words) > _MOST_MATCHES:
        return plain
    matcher = SequenceMatcher(None, *words, autojunk=False)
    if matcher.ratio() < _LEAST_ALIKE:
        return plain
    sides = Sides([], [])
    for kind, left_from, left_to, right_from, right_to in matcher.get_opcodes():
        for spans, found in (
            (sides.left, words[0][left_from:left_to]),
            (sides.right, words[1][right_from:right_to]),
        ):
            if found:
                spans.append(Span("".join(found), differs=kind != "equal"))
    return sides


def _matches(left: list[str], right: list[str]) -> int:
    counts = Counter(right)
    return sum(count * counts[word] for word, count in Counter(left).items())
