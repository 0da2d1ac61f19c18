"""`qeval models`: the catalogue of models, and fetching one."""

from __future__ import annotations

from typing import Annotated

import typer

from qeval.cli.output import Json, console, print_json, progress_console, say

app = typer.Typer(no_args_is_help=True, help="List the models qeval knows by name, and fetch one.")


@app.command("list")
def list_(as_json: Json = False) -> None:
    """List the catalogue, and which models are on this machine already.

    **Example**

    `qeval models list`
    """
    from rich.table import Table

    from qeval.models.fetch import list_models

    listed = list_models()
    table = Table("model", "licence", "here", "about")
    for entry in listed:
        table.add_row(
            entry.model.name, entry.model.licence, str(entry.path) if entry.path else "no", entry.model.description
        )
    console(as_json=as_json).print(table)
    if as_json:
        print_json([{"name": entry.model.name, "path": str(entry.path) if entry.path else None} for entry in listed])


@app.command("fetch")
def fetch(
    name: Annotated[str, typer.Argument(help="A catalogue name, see `qeval models list`.")], as_json: Json = False
) -> None:
    """Fetch a model into the cache, checked and ready to load; a second time is free.

    **Example**

    `qeval models fetch smollm2-135m`
    """
    from qeval.models.fetch import fetch as fetch_model

    progress = progress_console()
    path = fetch_model(name, lambda text: say(progress, text))
    say(console(as_json=as_json), f"{name} lies in {path}")
    if as_json:
        print_json({"name": name, "path": str(path)})
