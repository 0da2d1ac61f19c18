"""One short run of the real job, as CI does it last: exit code, reports and MLflow store."""

from __future__ import annotations

import json
import sqlite3
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from tests.real.conftest import run_plan_file, write_plan

pytestmark = pytest.mark.ci


def test_a_short_run_of_the_embedded_model_leaves_every_report_and_its_exit_code_is_the_decision(
    tmp_path: Path,
) -> None:
    plan = write_plan(tmp_path, variants=["fp32", "quanto-int8"], suites=["refusal"])
    run = run_plan_file(plan, tmp_path / "out", "--json")
    last = json.loads(run.stdout.splitlines()[-1])
    assert run.code == last["exit_code"] in {0, 1, 3}, run.stderr
    verdict = json.loads((run.out / "verdict.json").read_text())
    assert verdict["exit_code"] == run.code
    suites = ET.parse(run.out / "junit.xml").getroot()
    assert [suite.get("name") for suite in suites.iter("testsuite")]
    assert "<html" in (run.out / "report.html").read_text()
    assert "quanto-int8" in (run.out / "report.md").read_text()
    with sqlite3.connect(run.out / "mlflow.db") as store:
        assert store.execute("select count(*) from runs").fetchone()[0] == 3
