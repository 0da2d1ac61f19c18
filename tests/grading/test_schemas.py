"""JSON Schemas are read alike in every process, and give what the `jsonschema` package gives."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qeval.grading._schema import BadSchemaError, check_schema, violations
from qeval.grading._schema.drafts import DRAFTS
from qeval.grading._schema.library import load_jsonschema
from qeval.jsonl import dumps
from tests.grading.case_files import FOLDER
from tests.grading.made_schemas import made_schema, made_value

_SAID = """
import json, sys
from qeval.errors import UsageError
from qeval.grading import check_grader
from qeval.jsonl import read_lines
from pathlib import Path
from tests.grading.case_files import grades
said = []
for line in read_lines(Path(sys.argv[1])):
    try:
        check_grader(line.value["grader"], "x")
        said.append(grades(line.value)["schema_valid"].reason)
    except UsageError as error:
        said.append(str(error))
print(json.dumps(said))
"""


def test_odd_schemas_are_read_alike_whatever_the_hash_seed():
    said = []
    for seed in ("1", "2"):
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
            "PYTHONHASHSEED": seed,
        }
        command = [sys.executable, "-c", _SAID, str(FOLDER / "json_schema/odd.jsonl")]
        done = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
        said.append(json.loads(done.stdout))
    assert said[0] == said[1]
    assert len(said[0]) >= 35


@settings(max_examples=80)
@given(draft=st.sampled_from(sorted(DRAFTS)), seed=st.integers(0, 2**32))
def test_made_schemas_agree_with_the_jsonschema_package(draft: str, seed: int):
    schema = made_schema(draft, seed)
    package: Any = load_jsonschema()
    kind = getattr(package, f"Draft{draft.replace('-', '')}Validator")
    try:
        check_schema(schema)
    except BadSchemaError as fault:
        # In a circle that package would run out of stack.
        if "leads back to itself" not in str(fault):
            with pytest.raises(package.SchemaError):
                kind.check_schema(schema)
        return
    kind.check_schema(schema)
    for number in range(4):
        value = made_value(seed + number)
        found = violations(dumps(schema), value)
        with suppress(TypeError):  # raised by that package for `items: true` beside `unevaluatedItems`
            assert kind(schema).is_valid(value) == (not found), (schema, value)
