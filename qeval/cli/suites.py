"""`qeval suites`: list the built-in suites; the other commands of the group stand in files of their own."""

from __future__ import annotations

import typer

from qeval.cli import suites_check, suites_import, suites_new, suites_show
from qeval.cli.output import Json, console, print_json

app = typer.Typer(no_args_is_help=True, help="List, check and look into suites; no model is needed.")
app.command("check")(suites_check.check)
app.command("import")(suites_import.import_)
app.command("new")(suites_new.new)
app.command("show")(suites_show.show)


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
