"""A whole job in a folder: a suite, a script and a plan, for the scripted engine."""

from __future__ import annotations

import json
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import yaml
from typer.testing import CliRunner, Result

from qeval.cli.main import app, entry

FACTS = ("Oslo", "Lima", "Cairo", "Quito", "Hanoi")


def write_job(folder: Path, variants: dict[str, Any], n_cases: int = 160, **plan: Any) -> Path:
    """Write suite, script and plan; every second case is right for `fp32`.

    Args:
        folder: where to write.
        variants: the script's variants besides the baseline `fp32`.
        n_cases: cases in the suite, each a cluster of its own.
        plan: further keys of the plan.

    Returns:
        The plan's path.
    """
    suite = folder / "capitals"
    suite.mkdir(parents=True, exist_ok=True)
    (suite / "suite.yaml").write_text("name: capitals\nversion: 1\ndescription: Capitals, for tests.\n")
    cases = [
        {
            "id": f"c{index}",
            "messages": [{"role": "user", "content": f"Capital number {index}?"}],
            "graders": [{"kind": "contains", "value": FACTS[index % 5]}],
            "tags": {"continent": "odd" if index % 2 else "even"},
        }
        for index in range(n_cases)
    ]
    (suite / "cases.jsonl").write_text("".join(json.dumps(case) + "\n" for case in cases))
    right = {f"c{index}": FACTS[index % 5] for index in range(0, n_cases, 2)}
    script = {"default": "I do not know.", "variants": {"fp32": {"answers": right}, **variants}}
    (folder / "script.yaml").write_text(yaml.safe_dump(script))
    content = {
        "model": "scripted",
        "engine": "scripted",
        "script": "script.yaml",
        "variants": ["fp32", *variants],
        "suites": [str(suite)],
        **plan,
    }
    path = folder / "plan.yaml"
    path.write_text(yaml.safe_dump(content))
    return path


def qeval(*arguments: object) -> Result:
    """Run the command line in this process."""
    return CliRunner().invoke(app, [str(argument) for argument in arguments], catch_exceptions=True)


class Ended(NamedTuple):
    """What a command left on the terminal."""

    returncode: int
    stdout: str
    stderr: str


def qeval_entry(*arguments: object) -> Ended:
    """Run the command line as the installed script does, errors made into exit codes, but in this process."""
    out, err, code = StringIO(), StringIO(), 0
    with redirect_stdout(out), redirect_stderr(err), patch("sys.argv", ["qeval", *(str(part) for part in arguments)]):
        try:
            entry()
        except SystemExit as ended:
            code = int(ended.code or 0)
    return Ended(code, out.getvalue(), err.getvalue())
