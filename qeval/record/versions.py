"""The schema of records, and how older ones are read: each step takes a value of one schema to the next.

docs/schema.md lists what changed. A record of every older schema is kept in tests/stored_records.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

SCHEMA_VERSION = 2
"""What this qeval writes."""

JsonObject = dict[str, Any]


def upgraded_header(value: JsonObject, schema: int) -> JsonObject:
    """Return a header of an older schema as one of this qeval; its `schema_version` stays what it was."""
    return _upgraded(value, schema, _HEADER_STEPS)


def upgraded_line(kind: str, value: JsonObject, schema: int) -> JsonObject:
    """Return a line of an older schema, of a type named `kind`, as one of this qeval."""
    return _upgraded(value, schema, _LINE_STEPS.get(kind, {}))


def _upgraded(value: JsonObject, schema: int, steps: Mapping[int, Callable[[JsonObject], JsonObject]]) -> JsonObject:
    for version in range(schema, SCHEMA_VERSION):
        value = steps.get(version, _unchanged)(value)
    return value


def _unchanged(value: JsonObject) -> JsonObject:
    return value


def _header_from_1(value: JsonObject) -> JsonObject:
    """Drop what a pilot of replay found when it decoded plainly a second time: choices no longer rest on it."""
    gone_from_pilot = {"n_again", "again_same", "replay_alone", "again_alone", "p_value"}
    replay, measurements = value.get("replay"), value.get("measurements") or {}
    if replay and replay.get("pilot"):
        replay = {**replay, "pilot": _without(replay["pilot"], gone_from_pilot)}
    if measurements.get("pilot"):
        measurements = {**measurements, "pilot": _without(measurements["pilot"], {"again_s"})}
    return {**value, "replay": replay, "measurements": measurements}


def _without(value: JsonObject, keys: set[str]) -> JsonObject:
    return {key: one for key, one in value.items() if key not in keys}


_HEADER_STEPS = {1: _header_from_1}
_LINE_STEPS: dict[str, dict[int, Callable[[JsonObject], JsonObject]]] = {}
"""By type of line, then by the schema that a step starts from."""
