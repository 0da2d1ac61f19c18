"""Which keywords of a JSON Schema check something, draft by draft, and which were likely meant to."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, Literal, NamedTuple

from qeval.grading._schema import draft_of, subschemas

_DRAFTS = ("4", "6", "7", "2019-09", "2020-12")
_VOCABULARIES_OF = ("2019-09", "2020-12")
"""Drafts whose meta-schema is made of vocabularies."""
_VOCABULARIES = {
    "core": False,
    "meta-data": False,
    "content": False,
    "applicator": True,
    "unevaluated": True,
    "validation": True,
    "format": True,
    "format-annotation": True,
}
"""Each with whether its keywords check values. The meta-schema around them keeps old names, which check nothing."""
_OLD_NAMES = ("id", "definitions")
_REFERENCES = frozenset({"$ref", "$dynamicRef", "$recursiveRef"})
_OLDEST = "3"
"""Not checked here any more, but some of its keywords live on in schemas."""
_ALIKE = 0.82
"""Least likeness of a misspelt keyword, by `difflib`, without case and underscores."""
_SHORTEST = 3


class Doubt(NamedTuple):
    """A key of a schema that checks nothing, though it was likely meant to."""

    kind: Literal["misspelt", "other draft", "no keyword"]
    key: str
    meant: str = ""
    """The keyword that it is like; or the drafts that know it."""


def checks_something(schema: Any) -> bool:  # noqa: ANN401 - a schema may be a boolean
    """Return whether a schema has, at its top, any keyword that its draft checks.

    >>> checks_something({"title": "A person"}), checks_something({"type": "object"}), checks_something(False)
    (False, True, True)
    """
    return bool(_checked(draft_of(schema)) & set(schema)) if isinstance(schema, Mapping) else schema is False


def doubts(schema: Any) -> tuple[Doubt, ...]:  # noqa: ANN401 - a schema may be a boolean
    """Return the keys, at any depth, that check nothing and were likely meant to; each once.

    Keys of one's own (`x-...`, annotations) are no doubt, as long as a schema with them checks something.

    Args:
        schema: as `check_schema` accepts it.

    >>> [doubt.meant for doubt in doubts({"type": "object", "require": ["a"]})]
    ['required']
    >>> [doubt.kind for doubt in doubts({"a": {"type": "integer"}})]
    ['no keyword']
    """
    found = (doubt for inner in subschemas(schema) for doubt in _doubts_of(inner, draft_of(schema)))
    return tuple(dict.fromkeys(found))


def _doubts_of(schema: Mapping[str, Any], draft: str) -> Iterator[Doubt]:
    unknown = [key for key in schema if key not in _known(draft)]
    named = [doubt for key in unknown if (doubt := _doubt_of(key, draft)) is not None]
    yield from named
    like_schemas = [key for key in unknown if isinstance(schema[key], Mapping)]
    if not named and like_schemas and not _checked(draft) & set(schema):
        yield Doubt("no keyword", like_schemas[0])


def _doubt_of(key: str, draft: str) -> Doubt | None:
    drafts = [other for other in _DRAFTS if key in _checked(other)]
    if not drafts and key in _named(f"draft-0{_OLDEST}/schema"):
        drafts = [_OLDEST]
    if drafts:
        return Doubt("other draft", key, ", ".join(drafts))
    by_form = {_form(keyword): keyword for other in _DRAFTS for keyword in _checked(other)}
    close = difflib.get_close_matches(_form(key), by_form, n=1, cutoff=_ALIKE) if len(key) >= _SHORTEST else []
    return Doubt("misspelt", key, by_form[close[0]]) if close else None


def _form(key: str) -> str:
    return key.lower().replace("_", "").replace("-", "")


@cache
def _checked(draft: str) -> frozenset[str]:
    """Return the keywords by which a draft checks values."""
    if draft not in _VOCABULARIES_OF:
        named = _named(f"draft-0{draft}/schema")
    else:
        parts = [part for part, checks in _VOCABULARIES.items() if checks]
        named = frozenset().union(*(_named(f"draft/{draft}/meta/{part}") for part in parts))
    return (named | _REFERENCES) - _said()


@cache
def _known(draft: str) -> frozenset[str]:
    """Return the keywords that check something in a draft, and those that only say something in any."""
    return _checked(draft) | _said()


@cache
def _said() -> frozenset[str]:
    """Return the keywords that say something about a value, or name a schema, and check nothing."""
    parts = [part for part, checks in _VOCABULARIES.items() if not checks]
    named = (_named(f"draft/{draft}/meta/{part}") for draft in _VOCABULARIES_OF for part in parts)
    return frozenset(_OLD_NAMES).union(*named) - _REFERENCES


@cache
def _named(ending: str) -> frozenset[str]:
    """Return the keywords that a published meta-schema names, by the ending of its address."""
    from jsonschema_specifications import REGISTRY  # type: ignore[import-untyped]

    addresses = [uri for uri in REGISTRY if uri.rstrip("#").endswith(f"/{ending}")]
    return frozenset(name for uri in addresses for name in REGISTRY.contents(uri).get("properties", ()))
