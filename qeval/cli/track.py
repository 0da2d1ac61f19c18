"""`qeval track`: send a stored run to MLflow."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from qeval.cli.output import Finished, Json, console, print_json, progress_console, say

app = typer.Typer(no_args_is_help=True, help="Send stored runs to MLflow.")


@app.command("push")
def push(
    folder: Annotated[Path, typer.Argument(help="Folder of a finished run.")],
    tracking_uri: Annotated[
        str | None, typer.Option(help="MLflow tracking address. Default: an sqlite store in the run's folder.")
    ] = None,
    experiment: Annotated[str, typer.Option(help="MLflow experiment.")] = "qeval",
    full_text: Annotated[
        bool, typer.Option("--full-text", help="Send prompts and answers to a remote store as well.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Send a run that could not be tracked when it ended; a second time changes nothing.

    **Example**

    `qeval track push runs/nightly --tracking-uri http://127.0.0.1:5000`
    """
    from qeval.reporting.tracking import push as push_run

    result = push_run(folder, tracking_uri, experiment, "full" if full_text else "hashes")
    if result.warning:
        say(progress_console(), f"warning: {result.warning}")
    if result.pushed:
        say(console(as_json=as_json), f"tracked as {result.url}")
    if as_json:
        print_json({"pushed": result.pushed, "run_id": result.run_id, "url": result.url, "warning": result.warning})
    raise Finished(0 if result.pushed else 5)
