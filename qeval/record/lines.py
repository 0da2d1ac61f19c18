"""A line of a record's file: a value, the schema that it was written by, and a check over both.

::

    {"batch": 0, "case": "c7", ..., "schema": 2, "check": "5f0c41d2a9b37e60"}

The check is the start of a sha256 over the line as it was written, so a bit that flipped on a disk, a hole, or a grade
that somebody changed is seen, line by line. Lines of schema 1 have neither of the two keys.
"""

from __future__ import annotations

import hashlib
import re
from typing import Any, TypeVar

from pydantic import ValidationError

from qeval.errors import UsageError
from qeval.jsonl import dumps, loads
from qeval.record.versions import SCHEMA_VERSION as SCHEMA_VERSION
from qeval.record.versions import upgraded_line
from qeval.strict import Strict

T = TypeVar("T", bound=Strict)

CHECK = "check"
_SIGNED = re.compile(r', "schema": (\d{1,9}), "check": "([0-9a-f]{16})"\}\Z')
_ADDED = {"schema", CHECK}


class DamagedRecord(UsageError):
    """A record that is not what was written: torn, changed, or with files missing. A resume redoes what is damaged."""


class DamagedLine(ValueError):
    """A line that is not what was written."""


class NewerLine(ValueError):
    """A line that a newer qeval wrote."""


def written_by_newer(schema: object, why: str = "") -> str:
    """Return the sentence about what only a newer qeval can read.

    >>> written_by_newer(9, " with the field 'x'")
    "written by a newer qeval (schema 9 with the field 'x', this one reads up to 2). Read it with that qeval"
    """
    reads = f"this one reads up to {SCHEMA_VERSION}"
    return f"written by a newer qeval (schema {schema}{why}, {reads}). Read it with that qeval"


def write_line(value: Strict) -> str:
    """Return a value as a line, without its newline."""
    body = dumps(value.model_dump(mode="json"))
    return f'{body[:-1]}, "schema": {SCHEMA_VERSION}, "check": "{checksum(body, SCHEMA_VERSION)}"}}'


def read_line(kind: type[T], text: str, schema: int, *, trust: bool = False) -> T:
    """Read a line.

    Args:
        kind: the type of its value.
        text: the line.
        schema: of the record's header.
        trust: read a line whose check does not hold; to say what was changed in it.

    Raises:
        NewerLine: a newer qeval wrote it.
        DamagedLine: it is not what was written.
    """
    signed = _SIGNED.search(text)
    if signed is None:
        return _unsigned(kind, text, schema, trust=trust)
    own, body = int(signed[1]), f"{text[: signed.start()]}}}"
    if own > SCHEMA_VERSION:
        raise NewerLine(written_by_newer(own))
    if checksum(body, own) != signed[2] and not trust:
        _refuse_further_fields(kind, body, own)
        raise DamagedLine("its check does not hold, so it was changed after it was written")
    return _parsed(kind, body, own)


def checksum(body: str, schema: int) -> str:
    """Return the check over a JSON text and the schema that it is written in."""
    return hashlib.sha256(f"{schema}:{body}".encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _unsigned(kind: type[T], text: str, schema: int, *, trust: bool) -> T:
    """Read a line of schema 1; of a later schema it lacks its check, or has a key behind it."""
    if schema > 1:
        _refuse_further_fields(kind, text, schema)
        if not trust:
            raise DamagedLine("it has no check at its end, so it was changed after it was written")
        value = _object(text)
        return _parsed(kind, dumps({key: one for key, one in value.items() if key not in _ADDED}), schema)
    return _parsed(kind, text, schema)


def _refuse_further_fields(kind: type[Strict], text: str, schema: int) -> None:
    """Raise NewerLine where a line has all the fields known here, and others."""
    value = _object(text)
    found = value.keys() - _ADDED
    known = {field.alias or name for name, field in kind.model_fields.items()}
    if found > known:
        further = ", ".join(f"'{name}'" for name in sorted(found - known))
        raise NewerLine(written_by_newer(value.get("schema", schema), f" with the field {further}"))


def _parsed(kind: type[T], body: str, schema: int) -> T:
    try:
        if schema == SCHEMA_VERSION:
            return kind.model_validate_json(body)
    except ValidationError:
        # pydantic's own parser is several times faster, but refuses lone surrogates.
        pass
    value = upgraded_line(kind.__name__, _object(body), schema)
    try:
        return kind.model_validate(value)
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        _refuse_further_fields(kind, body, schema)
        raise DamagedLine(f"{'.'.join(map(str, fault['loc'])) or 'content'}: {fault['msg']}") from error


def _object(text: str) -> dict[str, Any]:
    try:
        value = loads(text)
    except ValueError as error:
        raise DamagedLine(str(error)) from error
    if not isinstance(value, dict):
        raise DamagedLine("it is no JSON object")
    return value
