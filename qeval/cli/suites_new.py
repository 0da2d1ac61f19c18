"""`qeval suites new`: a suite to begin with."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from qeval.cli.output import Json, console, print_json, say


def new(
    name: Annotated[str, typer.Argument(help="Name of the suite: small letters, digits, - and _.")],
    out: Annotated[Path | None, typer.Option(help="Folder to write. Default: ./NAME.")] = None,
    as_json: Json = False,
) -> None:
    """Write a suite to begin with: a header, three cases of different graders, a README that explains them.

    **Example**

    `qeval suites new support --out suites/support`
    """
    from qeval.suites.starter import write_starter

    paths = write_starter(name, out or Path(name))
    target = console(as_json=as_json)
    for path in paths:
        say(target, str(path))
    folder = paths[0].parent
    check = folder if folder.is_absolute() else f"./{folder}"
    say(target, f"Now: qeval suites check {check}")
    if as_json:
        print_json([str(path) for path in paths])
