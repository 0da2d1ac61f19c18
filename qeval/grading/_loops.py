"""Recognise a text that ends in a loop."""

from __future__ import annotations

_LONGEST_PERIOD = 400
_TAIL = 4_000
_LEAST_TURNS = 4
_LEAST_LENGTH = 40


def loops(text: str) -> bool:
    """Return whether the end of a text repeats itself at least four times over at least 40 characters.

    >>> loops("a, b, " + "c, d, " * 20), loops("one two three four five six seven eight nine ten")
    (True, False)
    """
    tail = text[-_TAIL:]
    # A border of length n - p means period p: the failure function finds the shortest in one pass.
    reverse = tail[::-1]
    borders = [0] * len(reverse)
    best = 0
    for index in range(1, len(reverse)):
        length = borders[index - 1]
        while length and reverse[index] != reverse[length]:
            length = borders[length - 1]
        borders[index] = length + 1 if reverse[index] == reverse[length] else 0
        period, size = index + 1 - borders[index], index + 1
        if period <= _LONGEST_PERIOD and size >= max(_LEAST_LENGTH, _LEAST_TURNS * period):
            best = size
    return best > 0
