"""JSON Schema drafts 4 to 2020-12 with exact decimals, checked formats, a time limit on patterns and no network."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from qeval.grading._circles import circle_in
from qeval.grading._ecma import PatternError, compile_ecma
from qeval.grading._formats import CHECKERS
from qeval.grading._json import MOST_EXPONENT
from qeval.grading._jsonschema import load_jsonschema
from qeval.jsonl import dumps

if TYPE_CHECKING:
    from jsonschema.protocols import Validator

DEFAULT_DRAFT = "2020-12"
"""The draft of a schema that names none."""
_DRAFTS = {
    "http://json-schema.org/draft-04/schema": "4",
    "http://json-schema.org/draft-06/schema": "6",
    "http://json-schema.org/draft-07/schema": "7",
    "https://json-schema.org/draft/2019-09/schema": "2019-09",
    "https://json-schema.org/draft/2020-12/schema": "2020-12",
}
_PATTERN_TIMEOUT_S = 0.5
_LONGEST_FORMATTED = 2_000
"""Longest text whose format is checked; nothing with a format is longer, and some checkers are slow."""


class BadSchemaError(ValueError):
    """A schema cannot be used; the message names the place and the fault."""


class Violation(NamedTuple):
    """Where and how a value breaks a schema."""

    path: str
    """JSON Pointer into the value."""
    keyword: str
    message: str


def draft_of(schema: Any) -> str:  # noqa: ANN401 - a schema may be a boolean
    """Return the draft a schema is read by.

    Raises:
        BadSchemaError: `$schema` names a draft that is not known here.
    """
    named = schema.get("$schema") if isinstance(schema, Mapping) else None
    if named is None:
        return DEFAULT_DRAFT
    draft = _DRAFTS.get(
        str(named).rstrip("#").replace("https://json-schema.org/draft-", "http://json-schema.org/draft-")
    )
    if draft is None:
        raise BadSchemaError(f"unknown $schema '{named}'. Allowed: {', '.join(_DRAFTS)}")
    return draft


def check_schema(schema: Any) -> None:  # noqa: ANN401 - a schema may be a boolean
    """Check a schema before any model loads.

    Raises:
        BadSchemaError: the schema breaks its draft's meta-schema, a `$ref` leads nowhere or in a circle, or a pattern
            is unusable.
    """
    _check_once(dumps(schema))


@lru_cache(maxsize=1024)
def _check_once(schema_text: str) -> None:
    """Check a schema; one that passed is not checked again with every answer."""
    schema = json.loads(schema_text)
    jsonschema = load_jsonschema()
    try:
        kind: Any = _kinds()[draft_of(schema)]
        # Patterns are checked below, as ECMAScript reads them, not as Python does.
        kind.check_schema(schema, format_checker=jsonschema.FormatChecker(formats=()))
    except jsonschema.SchemaError as error:
        raise BadSchemaError(
            f"at {_pointer(error.absolute_path)}: {_cut(error.message)} (draft {draft_of(schema)})"
        ) from error
    except RecursionError as error:
        raise BadSchemaError("the schema is nested too deeply") from error
    _check_references(schema)
    _check_patterns(schema)


def violations(schema_text: str, value: Any, most: int = 3) -> list[Violation]:  # noqa: ANN401 - any JSON value
    """Return the first violations of a value, in the schema's order.

    Args:
        schema_text: the schema as JSON, so that its validator is built once.
        value: as `_json.read_strict` returns it.
        most: how many to return.

    Raises:
        RecursionError: value and schema together are nested too deeply.
        TimeoutError: a pattern took too long on this value.
    """
    found = []
    for error in _validator(schema_text).iter_errors(value):
        found.append(Violation(_pointer(error.absolute_path), str(error.validator), _cut(error.message)))
        if len(found) == most:
            break
    return found


@lru_cache(maxsize=256)
def _validator(schema_text: str) -> Validator:
    schema = json.loads(schema_text, parse_float=Decimal)
    kind = _kinds()[draft_of(schema)]
    return kind(schema, registry=_registry(), format_checker=_formats(draft_of(schema)))


@lru_cache(maxsize=1)
def _registry() -> Any:  # noqa: ANN401 - referencing.Registry
    """Return the published meta-schemas; a reference to anything else is not fetched but fails."""
    from jsonschema_specifications import REGISTRY  # type: ignore[import-untyped]

    return REGISTRY


@lru_cache(maxsize=1)
def _kinds() -> dict[str, type[Validator]]:
    jsonschema = load_jsonschema()
    kinds = {
        "4": jsonschema.Draft4Validator,
        "6": jsonschema.Draft6Validator,
        "7": jsonschema.Draft7Validator,
        "2019-09": jsonschema.Draft201909Validator,
        "2020-12": jsonschema.Draft202012Validator,
    }
    own = {
        "additionalProperties": _additional_properties,
        "multipleOf": _multiple_of,
        "pattern": _pattern,
        "patternProperties": _pattern_properties,
        "uniqueItems": _unique_items,
    }
    return {
        draft: jsonschema.validators.extend(kind, own, type_checker=_types(kind, draft))
        for draft, kind in kinds.items()
    }


def _types(kind: Any, draft: str) -> Any:  # noqa: ANN401 - jsonschema.TypeChecker
    def is_integer(_: object, value: object) -> bool:
        if isinstance(value, bool):
            return False
        if isinstance(value, Decimal):
            exponent = value.as_tuple().exponent
            # Draft 4 reads 1.0 as a number that is no integer; later drafts go by the value.
            return exponent == 0 if draft == "4" else value == value.to_integral_value()
        return isinstance(value, int) or (isinstance(value, float) and value.is_integer() and draft != "4")

    def is_number(_: object, value: object) -> bool:
        return _is_number(value)

    return kind.TYPE_CHECKER.redefine_many({"integer": is_integer, "number": is_number})


@lru_cache(maxsize=8)
def _formats(draft: str) -> Any:  # noqa: ANN401 - jsonschema.FormatChecker
    base: Any = _kinds()[draft].FORMAT_CHECKER
    checker = load_jsonschema().FormatChecker(formats=())
    checker.checkers = {name: (_limited(check), raises) for name, (check, raises) in base.checkers.items()}
    known = {*checker.checkers, *(("iri", "iri-reference") if draft not in {"4", "6"} else ())}
    checker.checkers.update({name: (_on_text(check), ()) for name, check in CHECKERS.items() if name in known})
    checker.checkers["regex"] = (_is_pattern, PatternError)
    return checker


def _limited(check: Any) -> Any:  # noqa: ANN401 - a format's function
    def limited(value: object) -> bool:
        return bool(check(value)) if not isinstance(value, str) or len(value) <= _LONGEST_FORMATTED else False

    return limited


def _on_text(check: Callable[[str], bool]) -> Callable[[object], bool]:
    def on_text(value: object) -> bool:
        return not isinstance(value, str) or (len(value) <= _LONGEST_FORMATTED and check(value))

    return on_text


def _is_pattern(value: object) -> bool:
    if isinstance(value, str):
        compile_ecma(value)
    return True


def known_formats(draft: str = DEFAULT_DRAFT) -> frozenset[str]:
    """Return the names of the formats that are checked."""
    return frozenset(_formats(draft).checkers)


def _errors(message: str) -> Iterator[Any]:
    yield load_jsonschema().ValidationError(message)


def _is_number(value: object) -> bool:
    # Values read from text hold no floats; those of calls that an engine returned apart do.
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool)


def _multiple_of(_: Any, step: Any, value: Any, __: Any) -> Iterator[Any]:  # noqa: ANN401 - jsonschema's shape
    if not _is_number(value) or not _is_number(step):
        return
    value = Decimal(repr(value)) if isinstance(value, float) and math.isfinite(value) else value
    if isinstance(value, float) or (isinstance(value, Decimal) and abs(value.adjusted()) > 2 * MOST_EXPONENT):
        yield from _errors(f"{_cut(str(value))} is too large to be checked")
    elif Fraction(value) % Fraction(step):
        yield from _errors(f"{_cut(str(value))} is not a multiple of {step}")


def _searches(pattern: str, text: str) -> bool:
    return compile_ecma(pattern).search(text, timeout=_PATTERN_TIMEOUT_S) is not None


def _pattern(_: Any, pattern: str, value: Any, __: Any) -> Iterator[Any]:  # noqa: ANN401 - jsonschema's shape
    if isinstance(value, str) and not _searches(pattern, value):
        yield from _errors(f"{_cut(repr(value))} does not match {pattern!r}")


def _pattern_properties(validator: Any, patterns: Any, value: Any, _: Any) -> Iterator[Any]:  # noqa: ANN401
    if not isinstance(value, dict):
        return
    for pattern, schema in patterns.items():
        for key, item in value.items():
            if _searches(pattern, key):
                yield from validator.descend(item, schema, path=key, schema_path=pattern)


def _additional_properties(validator: Any, inner: Any, value: Any, schema: Any) -> Iterator[Any]:  # noqa: ANN401
    if not isinstance(value, dict):
        return
    patterns = schema.get("patternProperties", {})
    named = schema.get("properties", {})
    extras = [key for key in value if key not in named and not any(_searches(pattern, key) for pattern in patterns)]
    if inner is False and extras:
        shown = ", ".join(repr(key) for key in extras[:5])
        yield from _errors(f"additional properties are not allowed: {_cut(shown)}")
    elif isinstance(inner, Mapping):
        for key in extras:
            yield from validator.descend(value[key], inner, path=key)


def _unique_items(_: Any, wanted: bool, value: Any, __: Any) -> Iterator[Any]:  # noqa: ANN401
    if wanted and isinstance(value, list) and len({canonical(item) for item in value}) < len(value):
        yield from _errors(f"{_cut(repr(value))} has equal items")


def canonical(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    """Return a hashable stand-in that is equal for equal JSON values: 1 and 1.0 are, 1 and true are not."""
    if isinstance(value, bool):
        return ("bool", value)
    if isinstance(value, list):
        return ("list", *(canonical(item) for item in value))
    if isinstance(value, dict):
        return ("dict", frozenset((key, canonical(item)) for key, item in value.items()))
    return value


def _check_references(schema: Any) -> None:  # noqa: ANN401 - a schema may be a boolean
    """Follow every reference once; recursion through `$ref` is fine."""
    from referencing.exceptions import Unresolvable

    resolver, resource = _root(schema)
    waiting = [(resolver, resource)]
    seen: set[int] = set()
    while waiting:
        resolver, resource = waiting.pop()
        contents = resource.contents
        if id(contents) in seen:
            continue
        seen.add(id(contents))
        waiting.extend((resolver.in_subresource(inner), inner) for inner in _inner_schemas(resource))
        for keyword in ("$ref", "$dynamicRef", "$recursiveRef"):
            target = contents.get(keyword) if isinstance(contents, Mapping) else None
            if not isinstance(target, str):
                continue
            try:
                resolved = resolver.lookup(target)
            except (Unresolvable, ValueError, AttributeError, LookupError) as error:
                raise BadSchemaError(f"{keyword} '{target}' not found (nothing is fetched over the network)") from error
            waiting.append((resolved.resolver, _specification(schema).create_resource(resolved.contents)))
    if (target := circle_in(*_root(schema), _specification(schema))) is not None:
        raise BadSchemaError(f"$ref '{target}' leads back to itself in a circle: no answer could ever be checked")


def _inner_schemas(resource: Any) -> list[Any]:  # noqa: ANN401 - referencing.Resource
    # In draft 7 `dependencies` may name properties in a list, which `referencing` hands out as if it were a schema.
    return [inner for inner in resource.subresources() if isinstance(inner.contents, Mapping)]


def _root(schema: Any) -> tuple[Any, Any]:  # noqa: ANN401 - a schema may be a boolean
    resource = _specification(schema).create_resource(schema)
    uri = resource.id() or ""
    return _registry().with_resource(uri, resource).resolver(base_uri=uri), resource


def _specification(schema: Any) -> Any:  # noqa: ANN401 - referencing.Specification
    from referencing import jsonschema as drafts

    return {
        "4": drafts.DRAFT4,
        "6": drafts.DRAFT6,
        "7": drafts.DRAFT7,
        "2019-09": drafts.DRAFT201909,
        "2020-12": drafts.DRAFT202012,
    }[draft_of(schema)]


def subschemas(schema: Any) -> Iterator[Mapping[str, Any]]:  # noqa: ANN401 - a schema may be a boolean
    """Yield a schema and every schema inside it that is an object, references not followed."""
    _, resource = _root(schema)
    waiting = [resource]
    while waiting:
        resource = waiting.pop()
        waiting.extend(_inner_schemas(resource))
        if isinstance(resource.contents, Mapping):
            yield resource.contents


def _check_patterns(schema: Any) -> None:  # noqa: ANN401 - a schema may be a boolean
    for contents in subschemas(schema):
        named = contents.get("patternProperties", {})
        patterns = [contents.get("pattern"), *(named if isinstance(named, Mapping) else ())]
        for pattern in patterns:
            if isinstance(pattern, str):
                try:
                    compile_ecma(pattern)
                except PatternError as error:
                    raise BadSchemaError(str(error)) from error
        if "unevaluatedProperties" in contents:
            _check_plain(patterns)


def _check_plain(patterns: list[Any]) -> None:
    """Refuse patterns beside `unevaluatedProperties` that Python's own engine (used there) cannot read."""
    for pattern in patterns:
        try:
            re.compile(pattern or "")
        except (re.error, TypeError) as error:
            raise BadSchemaError(f"the pattern {pattern!r} cannot be used beside unevaluatedProperties") from error


def _pointer(path: Any) -> str:  # noqa: ANN401 - a deque of keys and indexes
    steps = (str(step).replace("~", "~0").replace("/", "~1") for step in path)
    return "".join(f"/{step}" for step in steps) or "the top"


def _cut(text: str, limit: int = 160) -> str:
    return text if len(text) <= limit else f"{text[:limit]}..."
