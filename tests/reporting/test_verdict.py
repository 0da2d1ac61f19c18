from __future__ import annotations

import json

import pytest

from qeval.errors import UsageError
from qeval.jsonl import loads
from qeval.reporting.files import write_all
from qeval.reporting.verdict import load_report, render_verdict


def test_a_report_survives_the_file(report, tmp_path):
    write_all(report, tmp_path)
    assert load_report(tmp_path) == report


def test_all_four_files_are_written_and_no_temporary_is_left(report, tmp_path):
    paths = write_all(report, tmp_path / "new" / "folder")
    assert sorted(paths) == ["junit.xml", "report.html", "report.md", "verdict.json"]
    assert sorted(p.name for p in (tmp_path / "new" / "folder").iterdir()) == sorted(paths)


def test_the_json_is_strict_and_holds_lone_surrogates_as_escapes(report):
    text = render_verdict(report)
    text.encode("utf-8")
    assert loads(text)["decision"] == "not_comparable"
    assert "NaN" not in text


def test_a_missing_report_is_named_with_what_to_do(tmp_path):
    with pytest.raises(UsageError, match=r"verdict\.json is missing.*qeval compare"):
        load_report(tmp_path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "damaged"),
        ("[]", "schema version None"),
        ('{"schema_version": 99}', "schema version 99; this qeval reads 1"),
        ('{"schema_version": 1, "extra": 2}', "unknown key 'extra'"),
        (json.dumps({"schema_version": 1}), "key 'model' is missing"),
    ],
)
def test_a_damaged_report_is_refused_with_its_fault(tmp_path, content, message):
    (tmp_path / "verdict.json").write_text(content)
    with pytest.raises(UsageError, match=message):
        load_report(tmp_path)
