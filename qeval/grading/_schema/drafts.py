"""The drafts of JSON Schema: how each is named, which keywords it has, and where its schemas lie."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from qeval.grading._schema.faults import BadSchemaError

DEFAULT_DRAFT = "2020-12"
"""The draft of a schema that names none."""


class Draft(NamedTuple):
    """One draft."""

    name: str
    uri: str
    """Of its meta-schema, without a fragment."""
    id_keyword: str
    references: tuple[str, ...]
    """Keywords that refer to other schemas."""
    anchors: tuple[str, ...]
    """Keywords that name a place; without any, the id does so where it begins with `#`."""
    keywords: frozenset[str]
    """Those that are evaluated, beside references."""
    one: frozenset[str]
    """Keywords that hold a schema; `items` of older drafts may hold a list of them as well."""
    listed: frozenset[str]
    """Keywords that hold a list of schemas."""
    named: frozenset[str]
    """Keywords that hold schemas by name."""

    @property
    def lone_ref(self) -> bool:
        """Whether `$ref` hides everything beside it, as in all drafts without anchors."""
        return not self.anchors


_ONE_4 = {"additionalItems", "additionalProperties", "items", "not"}
_ONE_6 = _ONE_4 | {"contains", "propertyNames"}
_ONE_7 = _ONE_6 | {"if", "then", "else"}
_ONE_2019 = _ONE_7 | {"contentSchema", "unevaluatedItems", "unevaluatedProperties"}
_ONE_2020 = _ONE_2019 - {"additionalItems"}
_LISTED = {"allOf", "anyOf", "oneOf"}
_NAMED_4 = {"definitions", "dependencies", "patternProperties", "properties"}
_NAMED_2019 = _NAMED_4 | {"$defs", "dependentSchemas"}
_PLAIN_4 = {
    "enum", "format", "maxItems", "maxLength", "maxProperties", "maximum", "minItems", "minLength", "minProperties",
    "minimum", "multipleOf", "pattern", "required", "type", "uniqueItems",
}  # fmt: skip
_PLAIN_6 = _PLAIN_4 | {"const", "exclusiveMaximum", "exclusiveMinimum"}
_PLAIN_2019 = _PLAIN_6 | {"dependentRequired", "maxContains", "minContains"}


def _draft(  # noqa: PLR0917 - one row of a table
    name: str,
    plain: set[str],
    one: set[str],
    listed: set[str],
    named: set[str],
    references: tuple[str, ...] = ("$ref",),
    anchors: tuple[str, ...] = (),
) -> Draft:
    uri = f"https://json-schema.org/draft/{name}/schema" if anchors else f"http://json-schema.org/draft-0{name}/schema"
    keywords = frozenset(plain | one | listed | named) - {"$defs", "definitions", "contentSchema"}
    id_keyword = "id" if name == "4" else "$id"
    return Draft(
        name, uri, id_keyword, references, anchors, keywords, frozenset(one), frozenset(listed), frozenset(named)
    )


_REFERENCES_2019 = ("$ref", "$recursiveRef")
_REFERENCES_2020 = ("$ref", "$dynamicRef")
_ANCHORS_2020 = ("$anchor", "$dynamicAnchor")
DRAFTS = {
    draft.name: draft
    for draft in (
        _draft("4", _PLAIN_4, _ONE_4, _LISTED, _NAMED_4),
        _draft("6", _PLAIN_6, _ONE_6, _LISTED, _NAMED_4),
        _draft("7", _PLAIN_6, _ONE_7, _LISTED, _NAMED_4),
        _draft("2019-09", _PLAIN_2019, _ONE_2019, _LISTED, _NAMED_2019, _REFERENCES_2019, ("$anchor",)),
        _draft(
            "2020-12", _PLAIN_2019, _ONE_2020, _LISTED | {"prefixItems"}, _NAMED_2019, _REFERENCES_2020, _ANCHORS_2020
        ),
    )
}
_BY_NAME = {draft.uri.partition("//")[2]: draft for draft in DRAFTS.values()}


def draft_of(schema: Any) -> str:  # noqa: ANN401 - a schema may be a boolean
    """Return the name of the draft a schema is read by.

    `$schema` may be written with http or https, with an empty fragment or without.

    Raises:
        BadSchemaError: `$schema` names a draft that is not known here.

    >>> draft_of({"$schema": "https://json-schema.org/draft-07/schema#"}), draft_of({})
    ('7', '2020-12')
    """
    return named_draft(schema, DRAFTS[DEFAULT_DRAFT]).name


def named_draft(schema: Any, default: Draft) -> Draft:  # noqa: ANN401 - a schema may be a boolean
    """Return the draft that a schema names, or the default where it names none.

    Raises:
        BadSchemaError: it names one that is not known here.
    """
    if not isinstance(schema, Mapping) or "$schema" not in schema:
        return default
    named = schema["$schema"]
    scheme, _, rest = str(named).removesuffix("#").partition("//")
    draft = _BY_NAME.get(rest) if scheme in {"http:", "https:"} else None
    if draft is None:
        allowed = ", ".join(draft.uri for draft in DRAFTS.values())
        raise BadSchemaError(f"unknown $schema '{str(named)[:100]}'. Allowed: {allowed}")
    return draft


def inner_schemas(contents: Any, draft: Draft) -> Iterator[tuple[str, str | int | None, Any]]:  # noqa: ANN401
    """Yield what lies directly inside a schema as keyword, name or index, and contents, in its order.

    What has another shape than its keyword demands is left out.
    """
    if not isinstance(contents, Mapping):
        return
    for keyword, value in contents.items():
        if keyword in draft.named and isinstance(value, Mapping):
            yield from ((keyword, name, inner) for name, inner in value.items() if is_schema(inner))
        elif isinstance(value, list) and (keyword in draft.listed or keyword == "items"):
            yield from ((keyword, index, inner) for index, inner in enumerate(value) if is_schema(inner))
        elif keyword in draft.one and is_schema(value):
            yield keyword, None, value


def is_schema(contents: object) -> bool:
    """Return whether a JSON value has the shape of a schema: an object or a boolean."""
    return isinstance(contents, Mapping | bool)
