"""What `qeval suites check` says besides that a suite is valid."""

from __future__ import annotations

import json
from pathlib import Path

from typer.testing import CliRunner

from qeval.cli.main import app


def test_c24_a_stop_text_that_the_prompt_writes_in_another_width_is_named_with_its_case(tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    case = {"id": "c7", "prompt": "问题：一加一？", "stop": ["问题:"], "graders": [{"kind": "number", "value": 2}]}
    path.write_text(json.dumps(case), encoding="utf-8")
    done = CliRunner().invoke(app, ["suites", "check", str(path)])
    assert done.exit_code == 0
    said = " ".join(done.output.split())
    assert "c7" in said
    assert "'问题:' stands in the prompt as '问题：'" in said
