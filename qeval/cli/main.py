"""The `qeval` command."""

from __future__ import annotations

import sys
import traceback
from typing import Annotated

import typer

from qeval import __version__
from qeval.cli import compare, formats, grade, models, power, run, schemas, selftest, suites, track
from qeval.cli.output import Finished, fail, print_json
from qeval.errors import ExitCode, QevalError, UsageError

app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    help="May this model ship at this precision, on the hardware that will serve it?",
    epilog=(
        "Exit codes: 0 accepted, 1 regressed or a limit broken, 2 bad usage or input, 3 inconclusive, "
        "4 not comparable, 5 incomplete, 70 a fault of qeval itself, 130 interrupted."
    ),
)
app.command("run")(run.run)
app.command("compare")(compare.compare)
app.command("formats")(formats.formats)
app.command("grade")(grade.grade)
app.add_typer(models.app, name="models")
app.add_typer(suites.app, name="suites")
app.add_typer(track.app, name="track")
app.command("power")(power.power)
app.command("schemas")(schemas.schemas)
app.command("selftest")(selftest.selftest)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"qeval {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """May this model ship at this precision, on the hardware that will serve it?"""


def _what_failed(error: OSError) -> str:
    where = f"{error.filename}: " if error.filename else ""
    return f"{where}{error.strerror or error}. Choose a place that exists and can be written, such as another --out."


def _end_of_typer(code: str | int | None, *, as_json: bool) -> str | int | None:
    """Return the exit code for an end that typer made, after the JSON line it knows nothing of."""
    if code == ExitCode.USAGE and as_json:
        # typer has told people what is wrong with the command line.
        print_json({"error": "the command line cannot be read; see stderr", "exit_code": int(ExitCode.USAGE)})
    if code == ExitCode.INTERRUPTED:
        sys.stderr.write("interrupted. Nothing was decided.\n")
        if as_json:
            print_json({"error": "interrupted", "exit_code": int(ExitCode.INTERRUPTED)})
    # typer ends with 1 where the reader of stdout went away, and here 1 means that a candidate regressed.
    return int(ExitCode.INTERRUPTED) if code == 1 else code


def entry() -> None:
    """Run the command line; errors meant for people are printed without a traceback."""
    as_json = "--json" in sys.argv
    try:
        app()
    except QevalError as error:
        fail(error, as_json=as_json)
    except OSError as error:
        # A full disk, a folder that may not be written, a file where a folder should be.
        fail(UsageError(_what_failed(error)), as_json=as_json)
    except Finished as ended:
        raise SystemExit(int(ended.code or 0)) from None
    except SystemExit as ended:
        raise SystemExit(_end_of_typer(ended.code, as_json=as_json)) from None
    except Exception as error:
        traceback.print_exc()
        if as_json:
            print_json({"error": f"{type(error).__name__}: {error}", "exit_code": int(ExitCode.INTERNAL)})
        raise SystemExit(int(ExitCode.INTERNAL)) from error
