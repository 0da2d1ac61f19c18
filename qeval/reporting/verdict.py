"""verdict.json: the Report itself, for programs."""

from __future__ import annotations

from pathlib import Path

from qeval.compare.report import Report
from qeval.errors import UsageError
from qeval.jsonl import dumps, loads, read_text
from qeval.strict import validate

VERDICT_FILE = "verdict.json"
SCHEMA_VERSION = 1


def render_verdict(report: Report) -> str:
    """Return the report as strict JSON: no NaN, lone surrogates escaped, keys sorted."""
    return dumps(report.model_dump(mode="json"), indent=1) + "\n"


def load_report(folder: Path) -> Report:
    """Read `verdict.json` of a run folder.

    Raises:
        UsageError: no such file, damaged, or written by another version of the schema.
    """
    path = folder / VERDICT_FILE
    if not path.is_file():
        raise UsageError(f"{folder}: no report there ({VERDICT_FILE} is missing). Run `qeval compare` or `qeval run`.")
    try:
        value = loads(read_text(path))
    except ValueError as error:
        raise UsageError(f"{path}: damaged ({error}). Compare the records again.") from error
    found = value.get("schema_version") if isinstance(value, dict) else None
    if found != SCHEMA_VERSION:
        raise UsageError(
            f"{path}: schema version {found}; this qeval reads {SCHEMA_VERSION}. Compare the records again."
        )
    return validate(Report, value, str(path))
