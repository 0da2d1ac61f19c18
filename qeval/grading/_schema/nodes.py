"""The schemas within a schema, each a node that knows what lies inside it and what it refers to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from qeval.grading._schema.drafts import Draft


class Reference(NamedTuple):
    """What a reference leads to."""

    target: Node
    dynamic: str | None = None
    """The name by which a schema further out may replace the target: that of a `$dynamicAnchor`, or empty for
    `$recursiveRef`. None for a reference that always leads to its target."""


class Node:
    """One schema within a schema."""

    __slots__ = ("contents", "draft", "inner", "plan", "references", "resource", "shared")

    def __init__(self, contents: Any, draft: Draft, resource: str) -> None:  # noqa: ANN401 - object or boolean
        """Begin a node; what it holds and refers to is added as it is found.

        Args:
            contents: the schema.
            draft: how it is read.
            resource: URI that its references are relative to.
        """
        self.contents = contents
        self.draft = draft
        self.resource = resource
        self.inner: dict[str, Any] = {}
        """Keyword -> node, or nodes by name or index."""
        self.references: list[Reference] = []
        self.shared = False
        """Whether references lead here, so that one value may be checked by it many times."""
        self.plan: Any = None
        """What `evaluate` has made ready of the keywords."""

    def put(self, keyword: str, name: str | int | None, child: Node) -> None:
        """Keep a node that lies directly inside this one."""
        if name is None:
            self.inner[keyword] = child
        else:
            self.inner.setdefault(keyword, {})[name] = child

    @property
    def keywords(self) -> Mapping[str, Any]:
        """The keywords that count, references aside."""
        if isinstance(self.contents, bool) or (self.draft.lone_ref and "$ref" in self.contents):
            return {}
        return {key: value for key, value in self.contents.items() if key in self.draft.keywords}

    def inside(self, keyword: str) -> Iterator[Node]:
        """Yield the nodes under a keyword."""
        found = self.inner.get(keyword)
        if found is not None:
            yield from found.values() if isinstance(found, dict) else (found,)
