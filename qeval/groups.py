"""Sets that grow together (union-find): whoever shares a member with another set is in one set with it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Generic, TypeVar

T = TypeVar("T", bound=tuple[object, ...])


class Groups(Generic[T]):
    """Disjoint sets of tuples. A set is named by its least member, so names do not depend on the order of joining.

    >>> groups = Groups[tuple[str]]()
    >>> groups.join([("b",), ("c",)])
    >>> groups.join([("c",), ("a",)])
    >>> groups.name(("b",)), groups.name(("d",))
    (('a',), ('d',))
    """

    def __init__(self) -> None:
        self._above: dict[T, T] = {}
        """Member -> a lesser one of its set."""

    def name(self, member: T) -> T:
        """Return the least member of the set that a member is in; of one that was never joined, itself."""
        path = []
        while (above := self._above.get(member)) is not None:
            path.append(member)
            member = above
        for passed in path:
            self._above[passed] = member
        return member

    def join(self, members: Iterable[T]) -> None:
        """Make one set of all sets that these members are in."""
        names = {self.name(member) for member in members}
        least = min(names, default=None)
        for other in names - {least}:
            if least is not None:
                self._above[other] = least
