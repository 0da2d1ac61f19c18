"""`qeval suites import`: other people's data, and a product's own logs and traces, as a suite."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from qeval.cli.output import Json, console, print_json, progress_console, say
from qeval.errors import UsageError
from qeval.suites.importers.base import kinds

if TYPE_CHECKING:
    from qeval.suites.check import RawCase
    from qeval.suites.importers.base import Dropped
    from qeval.suites.importing import Imported


_FAILING_SHOWN = 5


def _show_masks(wanted: bool) -> None:
    if wanted:
        from qeval.sensitive.rules import CREDENTIALS, PERSONAL

        for file in (CREDENTIALS, PERSONAL):
            typer.echo(file.read_text(encoding="utf-8"), nl=False)
        raise typer.Exit


def import_(
    kind: Annotated[str, typer.Argument(help=f"One of: {', '.join(kinds())}.")],
    source: Annotated[
        str, typer.Argument(help="File, folder, dataset id or tracking address; see docs/bring-your-own.md.")
    ],
    out: Annotated[Path, typer.Option(help="Folder for the suite; new or empty.")],
    name: Annotated[str | None, typer.Option(help="Name of the suite. Default: that of the folder.")] = None,
    lang: Annotated[str | None, typer.Option(help="mgsm, xquad, dataset: language, such as de.")] = None,
    mapping: Annotated[Path | None, typer.Option(help="dataset: how columns become cases (YAML).")] = None,
    grader: Annotated[
        str | None,
        typer.Option(help="openai-log, mlflow: for answers that prove nothing, as JSON. xquad: exact or contains."),
    ] = None,
    experiment: Annotated[str | None, typer.Option(help="mlflow: name of the experiment.")] = None,
    masks: Annotated[
        Path | None, typer.Option(help="openai-log, mlflow: further masking rules (YAML); see --show-masks.")
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Keep so many cases, a seeded sample.")] = None,
    seed: Annotated[int, typer.Option(help="Of the sample.")] = 0,
    join_near_equal: Annotated[
        bool,
        typer.Option(
            "--join-near-equal/--keep-near-equal",
            help="Whether cases whose prompts differ in numbers, names or a few words alone are one cluster.",
        ),
    ] = True,
    force: Annotated[bool, typer.Option("--force", help="Replace an earlier import in --out.")] = False,
    show_masks: Annotated[
        bool,
        typer.Option("--show-masks", callback=_show_masks, is_eager=True, help="Print the masking rules and exit."),
    ] = False,
    as_json: Json = False,
) -> None:
    """Make a suite from a public set, a table, a log of requests or traces; secrets in logs and traces are masked.

    **Examples**

    `qeval suites import bfcl data/bfcl --out suites/bfcl --limit 300`

    `qeval suites import dataset faq.csv --mapping map.yaml --out suites/faq`

    `qeval suites import openai-log requests.jsonl --out suites/traffic --masks own-masks.yaml`

    `qeval suites import mlflow sqlite:///mlflow.db --experiment prod --out suites/traces`
    """
    from qeval.suites.import_folder import check_out, named_after, write_suite
    from qeval.suites.importers.base import Wanted
    from qeval.suites.importing import Choice, gather

    check_out(out, force=force)
    wanted = Wanted(source, lang, mapping, _read_grader(grader), experiment, masks)
    choice = Choice(named_after(out) if name is None else name, limit, seed, join_near_equal)
    imported = gather(kind, wanted, choice, _watch)
    write_suite(imported, out)
    _tell(imported, out, console(as_json=as_json))
    if as_json:
        print_json(_summary(imported, out))


def _read_grader(text: str | None) -> Mapping[str, Any] | None:
    """Return a grader written as its kind alone or as JSON.

    Raises:
        UsageError: JSON that is damaged or names no kind.
    """
    from qeval.jsonl import loads

    if text is None or not text.lstrip().startswith("{"):
        return None if text is None else {"kind": text}
    advice = """Write it as in a case, such as '{"kind": "language", "lang": "de"}', or a kind alone."""
    try:
        grader = loads(text)
    except ValueError as error:
        raise UsageError(f"--grader: not JSON ({error}). {advice}") from error
    if "kind" not in grader:
        raise UsageError(f"--grader: has no 'kind'. {advice}")
    return dict(grader)


def _watch(rows: Iterator[RawCase | Dropped], total: int | None) -> Iterator[RawCase | Dropped]:
    """Show how far a source is read, where standard error is a terminal."""
    from rich.progress import track

    shown = progress_console()
    if not shown.is_terminal:
        return rows
    return iter(track(rows, "reading", total=total, console=shown, transient=True))


def _tell(imported: Imported, out: Path, target: Console) -> None:
    from qeval.suites.import_folder import near_equal_said
    from qeval.suites.importing import by_reason

    def line(text: str) -> None:
        say(target, text)

    drawn = f", drawn from {imported.valid} with seed {imported.seed}" if len(imported.cases) < imported.valid else ""
    line(f"{out}: {len(imported.cases)} cases in {imported.clusters} clusters from {imported.rows} rows{drawn}")
    if imported.near_equal is not None and imported.near_equal.cases:
        line(f"  near-equal prompts: {near_equal_said(imported.near_equal)}")
    for reason, n, first in by_reason(imported.dropped):
        line(f"  dropped {n}: {reason} (first: {first.example})")
    if imported.failing:
        line(f"  kept {len(imported.failing)} that their own logged answer fails, tagged logged=fails:")
        for told in imported.failing[:_FAILING_SHOWN]:
            line(f"    {told}")
        if len(imported.failing) > _FAILING_SHOWN:
            line(f"    and {len(imported.failing) - _FAILING_SHOWN} more, all in the README")
    if imported.masked is not None:
        counts = ", ".join(f"{rule} {n}" for rule, n in sorted(imported.masked.items())) or "nothing found"
        line(f"  masked: {counts}")
    line(f"  licence: {imported.licence or 'not stated beside the source'}")
    line(f"check it with: qeval suites check {out}")


def _summary(imported: Imported, out: Path) -> dict[str, Any]:
    from qeval.suites.importing import by_reason

    return {
        "out": str(out),
        "name": imported.header.name,
        "rows": imported.rows,
        "cases": len(imported.cases),
        "clusters": imported.clusters,
        "near_equal": None if imported.near_equal is None else imported.near_equal._asdict(),
        "valid": imported.valid,
        "seed": imported.seed,
        "dropped": {reason: n for reason, n, _ in by_reason(imported.dropped)},
        "failing": list(imported.failing),
        "masked": dict(imported.masked) if imported.masked is not None else None,
        "licence": imported.licence,
    }
