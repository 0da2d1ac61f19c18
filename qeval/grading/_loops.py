"""Find what a text repeats without a break up to its end."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

_LEAST_TURNS = 4
_LEAST_LENGTH = 40


class Loop(NamedTuple):
    """The end of a text, where it is one unit again and again; the last turn may be cut."""

    text: str
    """All turns."""
    period: int
    """Length of the unit."""

    @property
    def unit(self) -> str:
        """One turn, as the text ends with it."""
        return self.text[-self.period :]

    @property
    def turns(self) -> float:
        """How often the unit stands there; a cut turn counts by its share."""
        return len(self.text) / self.period


def loops_at_end(text: str) -> Iterator[Loop]:
    """Yield the loops that a text ends in; one with three turns or more is always among them.

    Where the last k characters stand in the text a second time, p characters earlier, the text ends in a loop of period
    p. For k = 1, 2, 4, ... one block is as long as the unit and shorter than two, and a block like that stands exactly
    one unit earlier. Takes n log n steps for n characters.

    >>> [loop.unit for loop in loops_at_end("One, two, " + "go, " * 9) if loop.turns > 3]
    ['go, ']
    """
    turned = text[::-1]
    seen: set[int] = set()
    size = 1
    while size < len(turned) and (period := turned.find(turned[:size], 1)) > 0:
        if period not in seen:
            seen.add(period)
            yield Loop(text[len(text) - period - _equal(turned, period) :], period)
        size *= 2


def _equal(text: str, shift: int) -> int:
    """Return how many characters a text and its rest from `shift` on begin with alike."""
    low, high = 0, len(text) - shift
    while low < high:
        middle = (low + high + 1) // 2
        if text.startswith(text[:middle], shift):
            low = middle
        else:
            high = middle - 1
    return low


def loops(text: str) -> bool:
    """Return whether the end of a text repeats itself at least four times over at least 40 characters.

    >>> loops("a, b, " + "c, d, " * 20), loops("one two three four five six seven eight nine ten")
    (True, False)
    """
    return any(loop.turns >= _LEAST_TURNS and len(loop.text) >= _LEAST_LENGTH for loop in loops_at_end(text))
