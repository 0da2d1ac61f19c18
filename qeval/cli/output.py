"""What every command prints alike: people's text, then with `--json` one machine line, the last of stdout."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, NoReturn

import typer
from rich.console import Console

from qeval.errors import ExitCode, QevalError
from qeval.jsonl import dumps
from qeval.reporting.visible import visible

Json = Annotated[bool, typer.Option("--json", help="Print the result as one JSON line, the last line of stdout.")]


_ESCAPED = {ord(char): f"\\u{ord(char):04x}" for char in "\u0085\u2028\u2029"}
"""Line ends that JSON allows raw inside texts."""


class Finished(SystemExit):
    """The end of a command that has told everything, its JSON line too."""


def console(*, as_json: bool) -> Console:
    """Return the console people's text goes to: stdout, or stderr where stdout ends in a JSON line."""
    return Console(stderr=as_json, soft_wrap=False)


def say(target: Console, text: str) -> None:
    """Print a line as it is: no markup, no colours of rich's own, no wrapping."""
    target.print(text, markup=False, highlight=False, soft_wrap=True)


def progress_console() -> Console:
    """Return the console progress goes to, standard error."""
    return Console(stderr=True)


def print_json(value: object) -> None:
    """Print one JSON line to stdout, one to readers as well that end lines where Unicode does."""
    sys.stdout.write(dumps(value).translate(_ESCAPED) + "\n")
    sys.stdout.flush()


def fail(error: QevalError, *, as_json: bool) -> NoReturn:
    """Print an error for its reader and end with its exit code."""
    # A message may quote a file, and a file may hold terminal escapes.
    sys.stderr.write(f"error: {visible(str(error))}\n")
    if as_json:
        print_json({"error": str(error), "exit_code": int(error.exit_code)})
    raise SystemExit(int(error.exit_code))


def say_report_only(target: Console, exit_code: int, *, report_only: bool) -> None:
    """Say that the exit code of the decision is not the one the command ends with."""
    if report_only and exit_code:
        say(target, "--report-only: this command ends with 0 all the same.")


def interrupted(folder: Path, *, as_json: bool) -> NoReturn:
    """Say that a run was interrupted, and how to go on."""
    more = f"run the same command with --out {folder} --resume to finish"
    sys.stderr.write(f"interrupted. What was answered is kept in {folder}; {more}.\n")
    if as_json:
        print_json({"error": "interrupted", "out": str(folder), "exit_code": int(ExitCode.INTERRUPTED)})
    raise Finished(ExitCode.INTERRUPTED)
