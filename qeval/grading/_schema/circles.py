"""Find references that lead back to themselves without a step into the value."""

from __future__ import annotations

from collections.abc import Iterator

from qeval.grading._schema.graph import Graph
from qeval.grading._schema.nodes import Node

_SAME_VALUE = ("allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas", "dependencies")
"""Keywords whose schemas are applied to the same value."""


def circle_in(graph: Graph) -> str | None:
    """Return a schema's reference that is part of a circle, or None. Recursion by way of a property or an item is none.

    Checking a value by such a schema would never end.
    """
    done: set[Node] = set()
    for start in graph.nodes:
        above: set[Node] = set()
        waiting: list[tuple[Node, Iterator[Node]]] = []
        if start not in done:
            above.add(start)
            waiting.append((start, _in_place(start)))
        while waiting:
            node, rest = waiting[-1]
            following = next(rest, None)
            if following is None:
                waiting.pop()
                above.discard(node)
                done.add(node)
            elif following in above:
                return next(_written(node) for node, _ in reversed(waiting) if node.references)
            elif following not in done:
                above.add(following)
                waiting.append((following, _in_place(following)))
    return None


def _in_place(node: Node) -> Iterator[Node]:
    """Yield what a node applies to the same value as itself."""
    yield from (reference.target for reference in node.references)
    for keyword in _SAME_VALUE:
        if keyword in node.keywords:
            yield from node.inside(keyword)


def _written(node: Node) -> str:
    return next(str(node.contents[keyword]) for keyword in node.draft.references if keyword in node.contents)
