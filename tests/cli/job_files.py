"""A whole job in a folder: a suite, a script and a plan, for the scripted engine."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import yaml
from typer.testing import CliRunner, Result

from qeval.cli.main import app

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
