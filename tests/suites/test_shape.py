"""Shapes: what each short form stands for."""

from __future__ import annotations

import pytest

from qeval.suites.shape import schema_of

TEXT = {"type": "string"}


@pytest.mark.parametrize(
    ("shape", "schema"),
    [
        ("string", TEXT),
        ("integer|null", {"type": ["integer", "null"]}),
        (["string"], {"type": "array", "items": TEXT}),
        ({"schema": {"enum": [1, None]}}, {"enum": [1, None]}),
        ({"map_of": "string"}, {"type": "object", "additionalProperties": TEXT}),
        ({"one_of": ["string", ["string"]]}, {"oneOf": [TEXT, {"type": "array", "items": TEXT}]}),
        ({}, {"type": "object", "properties": {}, "required": []}),
        ({"a": "string", "b?": "string"}, {"type": "object", "properties": {"a": TEXT, "b": TEXT}, "required": ["a"]}),
    ],
)
def test_a_shape_is_short_for_a_schema(shape, schema):
    assert schema_of(shape, closed=False) == schema


def test_closed_objects_allow_no_further_key_at_any_depth():
    schema = schema_of({"a": [{"b": {"c": "string"}}]}, closed=True)
    item = schema["properties"]["a"]["items"]
    assert [each["additionalProperties"] for each in (schema, item, item["properties"]["b"])] == [False] * 3
