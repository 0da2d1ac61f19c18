"""`qeval selftest`: planted damage and faults, and what the gate makes of them on this machine."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from qeval.cli.output import Finished, Json, console, interrupted, print_json, progress_console, say


def selftest(
    out: Annotated[
        Path | None, typer.Option(help="A new folder for records and reports. Default: one in runs, named by the time.")
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Fewer cases: small damage may then stay inconclusive.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Plant damage and faults in the embedded model, and show whether the gate stops each. Ends with 0 if it does.

    Needs about 3 GB of disk while it runs.

    **Examples**

    `qeval selftest`

    `qeval selftest --quick --json`
    """
    from qeval.job import now
    from qeval.runner.progress import watcher_for
    from qeval.selftest.run import run_selftest
    from qeval.selftest.table import render_table

    folder = out or Path("runs") / f"selftest-{now().replace(':', '-').removesuffix('+00-00')}"
    try:
        with watcher_for(progress_console()) as watcher:
            rows = run_selftest(folder, watcher, quick=quick)
    except KeyboardInterrupt:
        advice = "A self-test is not resumed: start it again with another --out."
        interrupted(advice, as_json=as_json, out=folder)
    target = console(as_json=as_json)
    target.print(render_table(rows))
    say(target, f"reports  {folder}")
    code = 0 if all(row.as_it_should_be for row in rows) else 1
    if as_json:
        shown = [row.model_dump(mode="json") for row in rows]
        print_json({"as_it_should_be": code == 0, "rows": shown, "out": str(folder), "exit_code": code})
    raise Finished(code)
