"""How far two prompts differ, word by word."""

from __future__ import annotations

from collections.abc import Sequence

from qeval.suites.near_equal.masked import weigh, weight

LONGEST_GAP = 3.0
"""Words in a row that may differ: a name, an amount with its unit. A sentence is no value."""
MOST_WORDS = 8.0
"""Words that may differ in all, however long the prompts are: another question after the same examples is another."""
_REACH = 10
"""Tokens looked ahead to where two prompts go on alike; values among them count nothing."""
_STRIDE = 64
"""Tokens of long equal stretches that are compared at once."""
_STEPS = sorted(
    ((left, right) for left in range(_REACH + 1) for right in range(_REACH + 1) if left or right),
    key=lambda step: (sum(step), abs(step[0] - step[1]), step),
)
"""How many tokens to leave out of each prompt: few before many, equal numbers before others."""


def difference(one: Sequence[str], other: Sequence[str]) -> float | None:
    """Return the words that differ between two prompts, or None where more than three in a row or eight in all do.

    Both are read side by side. Where they part, the nearest place is looked for at which they go on alike: with two
    words if there is such a place, else with one. A gap counts the words of its longer side.

    >>> difference("where is my red kettle today".split(), "where is my lamp today".split())
    2.0
    """
    total, i, j = 0.0, 0, 0
    while total <= MOST_WORDS and (i < len(one) or j < len(other)):
        if one[i : i + _STRIDE] == other[j : j + _STRIDE]:
            i, j = i + _STRIDE, j + _STRIDE
        elif i < len(one) and j < len(other) and one[i] == other[j]:
            i, j = i + 1, j + 1
        else:
            gap = _gap(one[i : i + _REACH + 2], other[j : j + _REACH + 2])
            if gap is None:
                return None
            total += max(weigh(one[i : i + gap[0]]), weigh(other[j : j + gap[1]]))
            i, j = i + gap[0], j + gap[1]
    return total if total <= MOST_WORDS else None


def _gap(one: Sequence[str], other: Sequence[str]) -> tuple[int, int] | None:
    """Return how many tokens of each to leave out, None where that takes too many."""
    lone = None
    most, other_most = _longest_gap(one), _longest_gap(other)
    for left, right in _STEPS:
        if left > most or right > other_most:
            continue
        ahead, beside = one[left : left + 2], other[right : right + 2]
        if ahead == beside:
            return left, right
        if lone is None and ahead[:1] == beside[:1]:
            lone = left, right
    return lone


def _longest_gap(words: Sequence[str]) -> int:
    """Return how many of the first tokens may be left out together."""
    weighed = 0.0
    for place, word in enumerate(words[:_REACH]):
        weighed += weight(word)
        if weighed > LONGEST_GAP:
            return place
    return min(len(words), _REACH)
