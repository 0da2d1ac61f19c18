"""What every command prints alike: people's text, then with `--json` one machine line, the last of stdout."""

from __future__ import annotations

import json
import re
import sys
import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer
from rich.console import Console

from qeval import streams
from qeval.clean import clean, without_credentials, without_hidden
from qeval.errors import ExitCode, QevalError
from qeval.jsonl import dumps
from qeval.visible import pieces

Json = Annotated[bool, typer.Option("--json", help="Print the result as one JSON line, the last line of stdout.")]

_NOT_ASCII = re.compile("[^\x00-\x7f]")


class Finished(SystemExit):
    """The end of a command that has told everything, its JSON line too; its code is the decision."""


def console(*, as_json: bool) -> Console:
    """Return the console people's text goes to: stdout, or stderr where stdout ends in a JSON line."""
    return Console(stderr=as_json, soft_wrap=False)


def say(target: Console, text: str) -> None:
    """Print a line as it is: no markup, no colours of rich's own, no wrapping, nothing that a terminal obeys."""
    target.print(clean(text), markup=False, highlight=False, soft_wrap=True)


def progress_console() -> Console:
    """Return the console progress goes to, standard error."""
    return Console(stderr=True)


def print_json(value: object) -> None:
    """Print one JSON line to stdout, in ASCII where stdout is not UTF-8.

    Line ends that only Unicode knows, and characters that a terminal obeys, are written as escapes.
    """
    line = dumps(_without_hidden(value))
    line = "".join(_escaped(piece.text) if piece.unsafe else piece.text for piece in pieces(line))
    if not (sys.stdout.encoding or "utf-8").lower().startswith("utf"):
        line = _NOT_ASCII.sub(lambda match: _escaped(match[0]), line)
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def _without_hidden(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    """Take what was hidden out of all texts; what only looks like a credential stays: a result may quote a case."""
    if isinstance(value, str):
        return without_hidden(value)
    if isinstance(value, Mapping):
        return {key: _without_hidden(item) for key, item in value.items()}
    return [_without_hidden(item) for item in value] if isinstance(value, list | tuple) else value


def _escaped(character: str) -> str:
    return json.dumps(character)[1:-1]


def fail(error: QevalError, *, as_json: bool) -> NoReturn:
    """Print an error for its reader and end with its exit code."""
    sys.stderr.write(f"error: {clean(str(error))}\n")
    if as_json:
        print_json({"error": without_credentials(str(error)), "exit_code": int(error.exit_code)})
    raise Finished(int(error.exit_code))


def fault(error: BaseException, *, as_json: bool) -> NoReturn:
    """Print a fault of qeval itself with its traceback, for whoever mends it."""
    sys.stderr.write(clean("".join(traceback.format_exception(error))))
    if as_json:
        print_json(
            {"error": without_credentials(f"{type(error).__name__}: {error}"), "exit_code": int(ExitCode.INTERNAL)}
        )
    raise Finished(int(ExitCode.INTERNAL))


def say_report_only(target: Console, exit_code: int, *, report_only: bool) -> None:
    """Say that the exit code of the decision is not the one the command ends with."""
    if report_only and exit_code:
        say(target, "--report-only: this command ends with 0 all the same.")


def interrupted(what_is_left: str, *, as_json: bool, out: Path | None = None) -> NoReturn:
    """Say that a command was interrupted, and what is left of it."""
    sys.stderr.write(clean(f"interrupted. {what_is_left}\n"))
    if as_json:
        place = {} if out is None else {"out": str(out)}
        print_json({"error": "interrupted", **place, "exit_code": int(ExitCode.INTERRUPTED)})
    raise Finished(int(ExitCode.INTERRUPTED))


def tell_loss() -> None:
    """Say on stderr that a part of stdout could not be written, on a full disk for instance."""
    if (why := streams.loss()) is not None:
        sys.stderr.write(f"warning: standard output could not be written ({why}). The exit code is right.\n")
