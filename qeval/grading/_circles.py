"""Find references of a JSON Schema that lead back to themselves without a step into the value."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

_LISTS = ("allOf", "anyOf", "oneOf")
_SINGLE = ("not", "if", "then", "else")


class _Place(NamedTuple):
    """A schema within the whole, with what resolves its references."""

    resolver: Any
    contents: Any
    by: str | None = None
    """The reference that led here, None where none did."""


def circle_in(resolver: Any, resource: Any, specification: Any) -> str | None:  # noqa: ANN401 - of `referencing`
    """Return a reference that is part of a circle, or None. Recursion by way of a property or an item is none.

    Checking an answer by such a schema would never end.

    Args:
        resolver: `referencing.Resolver` of the schema, whose references all resolve.
        resource: `referencing.Resource` of the schema.
        specification: `referencing.Specification` of its draft.
    """
    waiting = [(resolver, resource)]
    seen: set[int] = set()
    done: set[int] = set()
    while waiting:
        resolver, resource = waiting.pop()
        if id(resource.contents) in seen or not isinstance(resource.contents, Mapping):
            continue
        seen.add(id(resource.contents))
        found = _walk(_Place(resolver, resource.contents), specification, frozenset(), done)
        if found is not None:
            return found
        inner = [part for part in resource.subresources() if isinstance(part.contents, Mapping)]
        waiting.extend((resolver.in_subresource(part), part) for part in inner)
    return None


def _walk(place: _Place, specification: Any, above: frozenset[int], done: set[int]) -> str | None:  # noqa: ANN401
    """Follow what is applied to the same value; a schema met again below itself closes a circle."""
    me = id(place.contents)
    if me in above:
        return place.by
    if me in done:
        return None
    for inner in _in_place(place, specification):
        found = _walk(inner, specification, above | {me}, done)
        if found is not None:
            return found
    done.add(me)
    return None


def _in_place(place: _Place, specification: Any) -> Iterator[_Place]:  # noqa: ANN401
    """Yield the schemas that a schema applies to the same value."""
    contents = place.contents
    if not isinstance(contents, Mapping):
        return
    target = contents.get("$ref")
    if isinstance(target, str):
        resolved = place.resolver.lookup(target)
        yield _Place(resolved.resolver, resolved.contents, target)
    inner = [item for key in _LISTS if isinstance(contents.get(key), list) for item in contents[key]]
    inner += [contents[key] for key in _SINGLE if key in contents]
    for schema in (item for item in inner if isinstance(item, Mapping)):
        yield _Place(place.resolver.in_subresource(specification.create_resource(schema)), schema, place.by)
