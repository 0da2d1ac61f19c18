"""The `qeval` command."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from qeval import __version__
from qeval.clean import hide_variables
from qeval.cli import compare, formats, grade, models, power, run, schemas, selftest, suites, track
from qeval.cli.output import Finished, fail, fault, interrupted, tell_loss
from qeval.errors import ExitCode, QevalError, UsageError
from qeval.streams import settle

_COMPLETION = "_QEVAL_COMPLETE"
"""Set by a shell that asks which words may follow; the answer ends with codes of typer's own."""

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


def entry() -> None:
    """Run the command line as a program: whatever happens, the exit code says what became of the command.

    Only `Finished` carries a decision. A library, a suite or a stream that ends this process otherwise has decided
    nothing, so it never ends with 1, which means that a candidate regressed.
    """
    settle()
    hide_variables()
    if _COMPLETION in os.environ:
        app()
    try:
        code = _run(as_json="--json" in sys.argv)
    except Finished as ended:
        code = int(ended.code or 0)
    except KeyboardInterrupt:
        # Once more, while the first was being told.
        code = int(ExitCode.INTERRUPTED)
    tell_loss()
    raise SystemExit(code)


def _run(*, as_json: bool) -> int:
    """Run the command; errors meant for people are printed without a traceback."""
    try:
        code = app(standalone_mode=False)
    except QevalError as error:
        fail(error, as_json=as_json)
    except typer.TyperException as error:
        fail(_unreadable(error), as_json=as_json)
    except OSError as error:
        # A full disk, a folder that may not be written, a file where a folder should be.
        fail(UsageError(_what_failed(error)), as_json=as_json)
    except (Finished, KeyboardInterrupt):
        raise
    except BaseException as error:  # noqa: BLE001 - the end of the program: some libraries derive from BaseException
        fault(error, as_json=as_json)
    if code == ExitCode.INTERRUPTED:
        interrupted("Nothing was decided.", as_json=as_json)
    return code or 0


def _unreadable(error: typer.TyperException) -> UsageError:
    """Return what is wrong with the command line, and where to read how it is written."""
    context = getattr(error, "ctx", None)
    command = context.command_path if context is not None else "qeval"
    said = " ".join(error.format_message().split()) or "no command is named"
    return UsageError(f"{said.rstrip('.')}. See: {command} --help")


def _what_failed(error: OSError) -> str:
    where = f"{error.filename}: " if error.filename else ""
    return f"{where}{error.strerror or error}. Choose a place that exists and can be written, such as another --out."
