"""`qeval schemas`: JSON Schemas of the files people write, for their editors."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from qeval.cli.output import Json, console, print_json, say


def schemas(
    folder: Annotated[Path, typer.Argument(help="Where to write the schema files.")], as_json: Json = False
) -> None:
    """Write the JSON Schemas of plan, policy, suite and case, for completion and checks in an editor.

    **Example**

    `qeval schemas .schemas`
    """
    from qeval.compare.policy import Policy
    from qeval.jsonl import dumps, write_atomic
    from qeval.runner.plan import PlanFile
    from qeval.strict import Strict
    from qeval.suites.case import Case, SuiteHeader

    kinds: dict[str, type[Strict]] = {"plan": PlanFile, "policy": Policy, "suite": SuiteHeader, "case": Case}
    paths = {}
    for name, kind in kinds.items():
        path = folder / f"{name}.schema.json"
        write_atomic(path, dumps(kind.model_json_schema(), indent=1) + "\n")
        paths[name] = str(path)
        say(console(as_json=as_json), str(path))
    if as_json:
        print_json(paths)
