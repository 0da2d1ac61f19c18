"""`qeval grade`: grade answers without a model."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from qeval.cli.output import Json, console, print_json, say
from qeval.errors import UsageError

if TYPE_CHECKING:
    from qeval.outcome import Outcome


def grade(
    what: Annotated[
        str,
        typer.Argument(
            metavar="CASE|FILE|RECORD",
            help="SUITE/CASE-ID or a .json file with one case; a .jsonl file of answers; or the folder of a record.",
        ),
    ],
    output: Annotated[
        str | None, typer.Argument(metavar="[OUTPUT]", help="With CASE: a text file with the answer, or - for stdin.")
    ] = None,
    size: Annotated[str | None, typer.Option(help="smoke, standard or full; a record knows its own.")] = None,
    suites: Annotated[
        str | None, typer.Option(help="With RECORD: folders of suites that are not built in, with commas.")
    ] = None,
    check: Annotated[
        bool,
        typer.Option(
            "--check", help="With RECORD: fail where a grade is not the one its answer gets, or a line was changed."
        ),
    ] = False,
    as_json: Json = False,
) -> None:
    """Grade one answer, a file of answers, or a stored record again: each with class and reason, without a model.

    Ends with 0 when everything could be graded, whatever the grades are, and with 2 when something could not be read.
    With `--check`, a record that is not what was written, or not graded as it says, ends with 2 as well.

    A line of FILE.jsonl names a case and the answer to it: `case` (SUITE/CASE-ID; or the id alone beside `suite`),
    `text` or `tool_calls` or both, and where known `finish`: stop, length (cut at its limit) or content_filter.

    **Examples**

    `qeval grade schema/schema-0001 answer.txt`

    `echo '{"hours": 5}' | qeval grade ./my-suite/case-7 - --json`

    `qeval grade answers.jsonl --size standard`, with lines such as

    `{"case": "longdoc/longdoc-smoke-000-single-195ca5", "text": "In 1987.", "finish": "stop"}`

    `{"suite": "./my-suite", "case": "case-7", "tool_calls": [{"name": "f", "arguments": {"a": 1}}]}`

    `qeval grade runs/nightly/records/nf4 --check`
    """
    if (Path(what) / "record.json").is_file():
        _refuse({"OUTPUT": output, "--size": size}, "does not go with a record")
        _grade_record(Path(what), suites, check=check, as_json=as_json)
        return
    _refuse({"--suites": suites, "--check": "" if check else None}, "goes with a record alone")
    if output is None:
        _grade_file(Path(what), size or "smoke", as_json=as_json)
        return
    from qeval.reporting.grades import print_grades
    from qeval.suites.answers import grade_text
    from qeval.suites.case import size_called
    from qeval.suites.lookup import Cases

    graded = grade_text(Cases(size_called(size or "smoke")).find(what), _read(output))
    print_grades(graded, console(as_json=as_json))
    if as_json:
        print_json(_as_json(graded))


def _refuse(given: dict[str, str | None], why: str) -> None:
    for name, value in given.items():
        if value is not None:
            raise UsageError(f"{name} {why}. Leave it out.")


def _read(output: str) -> str:
    from qeval.jsonl import read_text

    if output != "-":
        return read_text(Path(output))
    if sys.stdin is None:
        raise UsageError("stdin is closed. Write the answer to it, or name a file that holds the answer.")
    try:
        return sys.stdin.buffer.read().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(f"stdin: not valid UTF-8 at byte {error.start}; write the answer as UTF-8.") from error


def _grade_file(path: Path, size: str, *, as_json: bool) -> None:
    from qeval.suites.answers import grade_file
    from qeval.suites.case import size_called

    if path.suffix != ".jsonl" or not path.is_file():
        raise UsageError(
            f"{path}: no .jsonl file of answers and no record. To grade one answer, name the file that holds it after "
            "the case, or - for stdin."
        )
    _show_many(grade_file(path, size_called(size)), {}, as_json=as_json)


def _grade_record(folder: Path, suites: str | None, *, check: bool, as_json: bool) -> None:
    from qeval.runner.regrade import regrade

    sources = [part.strip() for part in (suites or "").split(",") if part.strip()]
    found = regrade(folder, sources, check=check)
    target = console(as_json=as_json)
    for name in found.other_suites:
        say(target, f"caution: suite '{name}' is not what it was when the record was made.")
    changed = [f"{outcome.suite}/{outcome.case}" for outcome in found.changed]
    _show_many(found.outcomes, {"changed": changed, "other_suites": list(found.other_suites)}, as_json=as_json)
    say(target, f"{len(changed)} of them pass or fail otherwise than the record says")
    if check and found.damage:
        raise UsageError(found.damage)
    if check and changed:
        raise UsageError(f"{folder}: {len(changed)} grades are not those of their answers, the first {changed[0]}.")


def _show_many(outcomes: Sequence[Outcome], more: dict[str, object], *, as_json: bool) -> None:
    from qeval.reporting.grades import class_counts, print_many

    print_many(outcomes, console(as_json=as_json))
    if as_json:
        counts = [
            {"metric": metric, "status": status, "class": fault or None, "answers": n}
            for (metric, status, fault), n in sorted(class_counts(outcomes).items())
        ]
        print_json({"counts": counts, "answers": [_as_json(outcome) for outcome in outcomes], **more})


def _as_json(outcome: Outcome) -> dict[str, object]:
    """Return what was graded, `pass` first; the class is `class`, as everywhere people see it."""
    grades = [{"class": grade.fault, **grade.model_dump(mode="json", exclude={"fault"})} for grade in outcome.grades]
    repeat = {"repeat": outcome.repeat} if outcome.repeat else {}
    return {"suite": outcome.suite, "case": outcome.case, **repeat, "pass": outcome.passed(), "grades": grades}
