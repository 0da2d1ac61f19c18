"""Seeded choices whose results are the same on every machine and Python version.

Python guarantees only that `Random.random()` keeps its sequence for a seed; `choice`, `sample` and `shuffle` may
change between versions (docs of the `random` module, "Notes on Reproducibility"). So everything here is built on
`random()` alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from random import Random
from typing import TypeVar

T = TypeVar("T")


class Draw:
    """A stream of seeded choices; parts that must not disturb each other take a stream each.

    >>> Draw(7, "contract", 3).pick("abc") == Draw(7, "contract", 3).pick("abc")
    True
    """

    def __init__(self, *seed: object) -> None:
        self._random = Random("/".join(str(part) for part in seed))

    def whole(self, low: int, high: int) -> int:
        """Return a whole number from `low` to `high`, both included."""
        return low + int(self._random.random() * (high - low + 1))

    def pick(self, items: Sequence[T]) -> T:
        """Return one of the items."""
        return items[self.whole(0, len(items) - 1)]

    def shuffled(self, items: Iterable[T]) -> list[T]:
        """Return the items in a drawn order (Fisher-Yates)."""
        result = list(items)
        for last in range(len(result) - 1, 0, -1):
            other = self.whole(0, last)
            result[last], result[other] = result[other], result[last]
        return result

    def sample(self, items: Iterable[T], count: int) -> list[T]:
        """Return `count` different items.

        Raises:
            ValueError: there are fewer.
        """
        result = self.shuffled(items)
        if len(result) < count:
            raise ValueError(f"{count} different items asked for, of {len(result)}")
        return result[:count]
