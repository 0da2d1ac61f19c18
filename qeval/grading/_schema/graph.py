"""A schema as a graph of nodes, with every reference followed before any value is checked.

Everything is walked in the schema's own order, so that equal schemas give equal results in every process.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any
from urllib.parse import unquote, urldefrag, urljoin

from qeval.grading._schema.drafts import DEFAULT_DRAFT, DRAFTS, Draft, inner_schemas, is_schema, named_draft
from qeval.grading._schema.faults import BadSchemaError, cut
from qeval.grading._schema.nodes import Node, Reference


class Graph:
    """All nodes of a schema, and of the published meta-schemas that it refers to."""

    def __init__(self, schema: Any) -> None:  # noqa: ANN401 - a schema may be a boolean
        """Read a schema and follow its references.

        Raises:
            BadSchemaError: it names an unknown draft, or a reference leads nowhere.
        """
        self.nodes: list[Node] = []
        self.reached: list[tuple[str, Node]] = []
        """JSON Pointers to schemas at places where their draft looks for none, and these."""
        self.resources: dict[str, Node] = {}
        self.dynamic_anchors: dict[tuple[str, str], Node] = {}
        self._anchors: dict[tuple[str, str], Node] = {}
        self._ambiguous: set[str | tuple[str, str]] = set()
        self._by_contents: dict[int, Node] = {}
        self.root = self._add_tree(schema, DRAFTS[DEFAULT_DRAFT], "")
        followed = 0
        while followed < len(self.nodes):
            self._follow(self.nodes[followed])
            followed += 1
        self.is_dynamic = any(reference.dynamic is not None for node in self.nodes for reference in node.references)
        """Whether what a reference leads to may depend on the way that led there."""
        self.speaks = any(key.startswith("unevaluated") for node in self.nodes for key in node.keywords)
        """Whether it matters which properties and items a schema spoke of."""
        self.formats = frozenset(str(node.keywords["format"]) for node in self.nodes if "format" in node.keywords)

    def replacement(self, uri: str, dynamic: str) -> Node | None:
        """Return the node that the schema of a URI puts in the place of a dynamic reference's target, if any."""
        if dynamic:
            return self.dynamic_anchors.get((uri, dynamic))
        outer = self.resources.get(uri)
        return outer if outer is not None and _is_recursive(outer) else None

    def _add_tree(self, contents: Any, draft: Draft, base: str) -> Node:  # noqa: ANN401 - object or boolean
        """Add a schema and all that lies inside it."""
        root = self._add(contents, draft, base)
        self.resources.setdefault(base, root)
        waiting = [root]
        while waiting:
            node = waiting.pop()
            found = []
            for keyword, name, inner in inner_schemas(node.contents, node.draft):
                child = self._add(inner, node.draft, node.resource)
                found.append(child)
                node.put(keyword, name, child)
            waiting.extend(reversed(found))
        return root

    def _add(self, contents: Any, draft: Draft, base: str) -> Node:  # noqa: ANN401 - object or boolean
        node = Node(contents, named_draft(contents, draft), base)
        self.nodes.append(node)
        if isinstance(contents, Mapping):
            self._by_contents[id(contents)] = node
            self._name(node, contents)
        return node

    def _name(self, node: Node, contents: Mapping[str, Any]) -> None:
        """Note the URI and the anchors that a schema gives itself."""
        draft = node.draft
        own = contents.get(draft.id_keyword)
        if isinstance(own, str) and not (draft.lone_ref and "$ref" in contents):
            try:
                uri, anchor = urldefrag(urljoin(node.resource, own))
            except ValueError as error:
                raise BadSchemaError(f"{draft.id_keyword} '{cut(own)}' is no URI ({error})") from error
            if not own.startswith("#"):
                node.resource = uri
                self._keep(self.resources, uri, node)
            if anchor and draft.lone_ref:
                self._keep(self._anchors, (node.resource, anchor), node)
        for keyword in draft.anchors:
            if isinstance(name := contents.get(keyword), str):
                self._keep(self._anchors, (node.resource, name), node)
                if keyword == "$dynamicAnchor":
                    self.dynamic_anchors.setdefault((node.resource, name), node)

    def _keep(self, names: dict[Any, Node], name: Any, node: Node) -> None:  # noqa: ANN401 - URI, or URI and anchor
        if names.setdefault(name, node).contents != node.contents:
            self._ambiguous.add(name)

    def _follow(self, node: Node) -> None:
        """Find what a node's references lead to."""
        if isinstance(node.contents, bool):
            return
        for keyword in node.draft.references:
            written = node.contents.get(keyword)
            if not isinstance(written, str):
                continue
            target = self._target(node, keyword, written)
            target.shared = True
            anchor = urldefrag(written)[1]
            dynamic = None
            if keyword == "$recursiveRef" and _is_recursive(target):
                dynamic = ""
            elif keyword == "$dynamicRef" and self.dynamic_anchors.get((target.resource, anchor)) is target:
                dynamic = anchor
            node.references.append(Reference(target, dynamic))

    def _target(self, node: Node, keyword: str, written: str) -> Node:
        try:
            # urljoin would forget a base such as `urn:example:a`.
            inside = written.startswith("#")
            uri, fragment = (node.resource, written[1:]) if inside else urldefrag(urljoin(node.resource, written))
            target = self._at(uri, unquote(fragment))
        except (LookupError, ValueError, TypeError) as error:
            raise BadSchemaError(
                f"{keyword} '{cut(written)}' not found (nothing is fetched over the network)"
            ) from error
        if uri in self._ambiguous or (uri, unquote(fragment)) in self._ambiguous:
            raise BadSchemaError(f"{keyword} '{cut(written)}' is the name of two schemas that differ")
        return target

    def _at(self, uri: str, fragment: str) -> Node:
        """Return the node of a URI and a fragment: nothing, an anchor, or a JSON Pointer.

        Raises:
            LookupError, TypeError: there is none.
        """
        if uri not in self.resources:
            self._add_tree(_published()[uri], DRAFTS[DEFAULT_DRAFT], uri)
        node = self.resources[uri]
        if not fragment:
            return node
        if not fragment.startswith("/"):
            return self._anchors[uri, fragment]
        contents: Any = node.contents
        for step in fragment[1:].split("/"):
            name = step.replace("~1", "/").replace("~0", "~")
            contents = contents[int(name) if isinstance(contents, list) and name.isdecimal() else name]
            node = self._by_contents.get(id(contents), node)
        if node.contents is contents:
            return node
        if not is_schema(contents):
            raise LookupError(fragment)
        reached = self._add_tree(contents, node.draft, node.resource)
        self.reached.append((fragment, reached))
        return reached


def _is_recursive(node: Node) -> bool:
    return isinstance(node.contents, Mapping) and node.contents.get("$recursiveAnchor") is True


@lru_cache(maxsize=1)
def _published() -> dict[str, Any]:
    """Return the published meta-schemas by URI."""
    from jsonschema_specifications import REGISTRY  # type: ignore[import-untyped]

    return {uri.rstrip("#"): REGISTRY.contents(uri) for uri in REGISTRY}
