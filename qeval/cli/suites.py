"""`qeval suites`: list the built-in suites, and check suites without a model."""

from __future__ import annotations

from typing import Annotated

import typer

from qeval.cli.output import Json, console, print_json
from qeval.suites.case import Suite, size_called

app = typer.Typer(no_args_is_help=True, help="List, check and look into suites; no model is needed.")


@app.command("list")
def list_(as_json: Json = False) -> None:
    """List the built-in suites with what each stands for.

    **Example**

    `qeval suites list`
    """
    from rich.table import Table

    from qeval.suites.load import list_suites, load_suite

    listed = [(entry, load_suite(entry.name, "smoke")) for entry in list_suites()]
    table = Table("suite", "version", "smoke cases", "stands for")
    for entry, suite in listed:
        table.add_row(entry.name, str(suite.version), str(len(suite.cases)), suite.description)
    console(as_json=as_json).print(table)
    if as_json:
        print_json(
            [
                {
                    "name": entry.name,
                    "version": suite.version,
                    "smoke_cases": len(suite.cases),
                    "description": suite.description,
                }
                for entry, suite in listed
            ]
        )


@app.command("check")
def check(
    suites: Annotated[list[str], typer.Argument(help="Names of built-in suites, folders or .jsonl files.")],
    size: Annotated[str, typer.Option(help="smoke, standard or full.")] = "smoke",
    as_json: Json = False,
) -> None:
    """Check suites as `qeval run` would before it loads a model.

    **Examples**

    `qeval suites check longdoc`

    `qeval suites check ./my-suite --size standard --json`
    """
    from qeval.suites.load import load_suite

    checked = [load_suite(name, size_called(size)) for name in suites]
    target = console(as_json=as_json)
    for suite in checked:
        clusters = len({case.cluster or case.id for case in suite.cases})
        target.print(
            f"{suite.name}: {len(suite.cases)} cases in {clusters} clusters, no faults",
            markup=False,
            highlight=False,
        )
    warnings = {suite.name: _warnings(suite) for suite in checked}
    for lines in warnings.values():
        for line in lines:
            target.print(f"warning: {line}", markup=False, highlight=False)
    if as_json:
        print_json(
            [
                {
                    "name": suite.name,
                    "cases": len(suite.cases),
                    "digest": suite.digest,
                    "warnings": warnings[suite.name],
                }
                for suite in checked
            ]
        )


def _warnings(suite: Suite) -> list[str]:
    from qeval.suites.stops import stop_warnings

    return [f"case '{case.id}': {text}" for case in suite.cases for text in stop_warnings(case)]
