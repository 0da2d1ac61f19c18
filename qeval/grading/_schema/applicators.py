"""Keywords that apply schemas: to the same value, or to values inside it.

Each is a coroutine. It yields a node and the value to check by it, is sent what was found, and adds to what was
gathered. So a schema may be nested and refer to itself as deeply as a value is, without a deep stack.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from typing import NamedTuple

from qeval.grading._budget import Budget
from qeval.grading._schema.ecma import compile_ecma
from qeval.grading._schema.faults import pointer
from qeval.grading._schema.nodes import Node
from qeval.grading._schema.values import Json, shown


class Fault(NamedTuple):
    """One thing wrong with a value."""

    path: tuple[str | int, ...]
    """From the value that is checked to the one that is wrong."""
    keyword: str
    message: str
    within: tuple[tuple[str | int, ...], str] | None = None
    """Of alternatives that all fail: where the one fails that comes furthest, from here, and how."""

    @property
    def deepest(self) -> tuple[tuple[str | int, ...], str]:
        """Where it is wrong in the end, and how."""
        path, message = self.within or ((), self.message)
        return (*self.path, *path), message


class Found(NamedTuple):
    """What checking a value by a node gave."""

    faults: tuple[Fault, ...] = ()
    """The first ones; none where the value is valid."""
    names: frozenset[str] = frozenset()
    """Properties that the schema spoke of, for `unevaluatedProperties`."""
    places: frozenset[int] = frozenset()
    """Indexes of items that it spoke of, for `unevaluatedItems`."""


class Gathered:
    """What the keywords of one node have found so far."""

    def __init__(self, *, speaks: bool) -> None:
        """Begin with nothing.

        Args:
            speaks: whether it matters what was spoken of: somewhere in the schema there is an `unevaluated...`.
        """
        self.speaks = speaks
        self.faults: list[Fault] = []
        self.names: set[str] = set()
        self.places: set[int] = set()

    def fault(self, keyword: str, message: str) -> None:
        """Add something wrong with the value itself."""
        self.faults.append(Fault((), keyword, message))

    def same(self, found: Found) -> None:
        """Add what a schema that must hold found for the same value."""
        self.faults.extend(found.faults)
        self.spoken_of(found)

    def inside(self, step: str | int, found: Found) -> None:
        """Add what was found for a value one step inside."""
        self.faults.extend(fault._replace(path=(step, *fault.path)) for fault in found.faults)

    def spoken_of(self, found: Found) -> None:
        """Add what a schema that holds spoke of."""
        if not found.faults:
            self.names |= found.names
            self.places |= found.places


_KINDS = {"additionalProperties": "additional", "unevaluatedProperties": "unevaluated"}
Steps = Generator[tuple[Node, Json], Found, None]
Applicator = Callable[[Node, Json, Gathered, Budget], Steps]


def _all_of(node: Node, value: Json, so_far: Gathered, _: Budget) -> Steps:
    for child in node.inside("allOf"):
        so_far.same((yield child, value))


def _any_of(node: Node, value: Json, so_far: Gathered, _: Budget) -> Steps:
    valid = False
    faults: list[Fault] = []
    for child in node.inside("anyOf"):
        found = yield child, value
        so_far.spoken_of(found)
        faults.extend(found.faults)
        valid = valid or not found.faults
        if valid and not so_far.speaks:
            break
    if not valid:
        so_far.faults.append(_none_fits(value, "anyOf", faults))


def _one_of(node: Node, value: Json, so_far: Gathered, _: Budget) -> Steps:
    valid: list[int] = []
    faults: list[Fault] = []
    for number, child in enumerate(node.inside("oneOf")):
        found = yield child, value
        faults.extend(found.faults)
        if not found.faults:
            valid.append(number)
            so_far.spoken_of(found)
    if not valid:
        so_far.faults.append(_none_fits(value, "oneOf", faults))
    elif len(valid) > 1:
        so_far.fault("oneOf", f"{shown(value)} fits several schemas of oneOf: numbers {', '.join(map(str, valid[:5]))}")


def _none_fits(value: Json, keyword: str, faults: list[Fault]) -> Fault:
    """Say that no alternative fits, and what is wrong with the one that came furthest into the value."""
    said = f"{shown(value)} fits none of the schemas of {keyword}"
    path, message = max((fault.deepest for fault in faults), key=lambda deepest: len(deepest[0]))
    if not path:
        return Fault((), keyword, said)
    return Fault((), keyword, f"{said}; at {pointer(path)}: {message}", (path, message))


def _not(node: Node, value: Json, so_far: Gathered, _: Budget) -> Steps:
    found = yield node.inner["not"], value
    if not found.faults:
        so_far.fault("not", f"{shown(value)} fits the schema of not")


def _if(node: Node, value: Json, so_far: Gathered, _: Budget) -> Steps:
    found = yield node.inner["if"], value
    so_far.spoken_of(found)
    following = node.inner.get("else" if found.faults else "then")
    if following is not None:
        so_far.same((yield following, value))


def _dependent_schemas(keyword: str) -> Applicator:
    def apply(node: Node, value: Json, so_far: Gathered, _: Budget) -> Steps:
        if isinstance(value, dict):
            for name, child in node.inner.get(keyword, {}).items():
                if name in value:
                    so_far.same((yield child, value))

    return apply


def _properties(node: Node, value: Json, so_far: Gathered, _: Budget) -> Steps:
    if isinstance(value, dict):
        for name, child in node.inner.get("properties", {}).items():
            if name in value:
                so_far.names.add(name)
                so_far.inside(name, (yield child, value[name]))


def _pattern_properties(node: Node, value: Json, so_far: Gathered, budget: Budget) -> Steps:
    if isinstance(value, dict):
        for pattern, child in node.inner.get("patternProperties", {}).items():
            for name, inner in value.items():
                if budget.search(compile_ecma(pattern), name):
                    so_far.names.add(name)
                    so_far.inside(name, (yield child, inner))


def _additional_properties(node: Node, value: Json, so_far: Gathered, budget: Budget) -> Steps:
    if isinstance(value, dict):
        named, patterns = node.inner.get("properties", {}), node.inner.get("patternProperties", {})
        extra = [
            name
            for name in value
            if name not in named and not any(budget.search(compile_ecma(pattern), name) for pattern in patterns)
        ]
        yield from _rest(node, "additionalProperties", value, extra, so_far)


def _unevaluated_properties(node: Node, value: Json, so_far: Gathered, _: Budget) -> Steps:
    if isinstance(value, dict):
        extra = [name for name in value if name not in so_far.names]
        yield from _rest(node, "unevaluatedProperties", value, extra, so_far)


def _rest(node: Node, keyword: str, value: Json, extra: list[str], so_far: Gathered) -> Steps:
    """Check the properties that are left."""
    child = node.inner[keyword]
    if child.contents is False and extra:
        so_far.fault(keyword, f"{_KINDS[keyword]} properties are not allowed: {', '.join(map(shown, extra[:5]))}")
        return
    for name in extra:
        so_far.inside(name, (yield child, value[name]))
    so_far.names.update(extra)


def _property_names(node: Node, value: Json, so_far: Gathered, _: Budget) -> Steps:
    if isinstance(value, dict):
        for name in value:
            found = yield node.inner["propertyNames"], name
            for fault in found.faults:
                so_far.fault("propertyNames", f"the name {shown(name)}: {fault.message}")


def _prefix_items(keyword: str) -> Applicator:
    def apply(node: Node, value: Json, so_far: Gathered, _: Budget) -> Steps:
        children = node.inner.get(keyword, {})
        if isinstance(value, list) and isinstance(children, dict):
            for place, child in children.items():
                if place < len(value):
                    so_far.places.add(place)
                    so_far.inside(place, (yield child, value[place]))

    return apply


def _items(node: Node, value: Json, so_far: Gathered, budget: Budget) -> Steps:
    if isinstance(node.inner.get("items"), dict):
        yield from _prefix_items("items")(node, value, so_far, budget)
    elif isinstance(value, list):
        first = len(node.inner.get("prefixItems", ()))
        yield from _remaining(node, "items", value, range(first, len(value)), so_far)


def _additional_items(node: Node, value: Json, so_far: Gathered, _: Budget) -> Steps:
    children = node.inner.get("items")
    if isinstance(value, list) and isinstance(children, dict):
        yield from _remaining(node, "additionalItems", value, range(len(children), len(value)), so_far)


def _unevaluated_items(node: Node, value: Json, so_far: Gathered, _: Budget) -> Steps:
    if isinstance(value, list):
        places = [place for place in range(len(value)) if place not in so_far.places]
        yield from _remaining(node, "unevaluatedItems", value, places, so_far)


def _remaining(node: Node, keyword: str, value: Json, places: Iterable[int], so_far: Gathered) -> Steps:
    """Check the items at these places."""
    for place in places:
        so_far.inside(place, (yield node.inner[keyword], value[place]))
    so_far.places.update(places)


def _contains(node: Node, value: Json, so_far: Gathered, _: Budget) -> Steps:
    if not isinstance(value, list):
        return
    matching = []
    for place, item in enumerate(value):
        found = yield node.inner["contains"], item
        if not found.faults:
            matching.append(place)
    keywords = node.keywords
    least, most = keywords.get("minContains", 1), keywords.get("maxContains", len(value))
    if len(matching) < least:
        so_far.fault("contains", f"{shown(value)} holds {len(matching)} items of those wanted, fewer than {least}")
    if len(matching) > most:
        so_far.fault("contains", f"{shown(value)} holds {len(matching)} items of those wanted, more than {most}")
    if node.draft.name == "2020-12":
        so_far.places.update(matching)


APPLICATORS: dict[str, Applicator] = {
    "allOf": _all_of,
    "anyOf": _any_of,
    "oneOf": _one_of,
    "not": _not,
    "if": _if,
    "dependentSchemas": _dependent_schemas("dependentSchemas"),
    "dependencies": _dependent_schemas("dependencies"),
    "properties": _properties,
    "patternProperties": _pattern_properties,
    "additionalProperties": _additional_properties,
    "propertyNames": _property_names,
    "prefixItems": _prefix_items("prefixItems"),
    "items": _items,
    "additionalItems": _additional_items,
    "contains": _contains,
    "unevaluatedProperties": _unevaluated_properties,
    "unevaluatedItems": _unevaluated_items,
}
"""By keyword, in the order in which they are applied: what is left over comes last."""
