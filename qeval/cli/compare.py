"""`qeval compare`: stored records against each other, without a model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from qeval.cli.output import Finished, Json, console, print_json, say, say_report_only


def compare(
    baseline: Annotated[Path, typer.Argument(help="Folder of the baseline's record.")],
    candidates: Annotated[list[Path], typer.Argument(help="Folders of the candidates' records.")],
    policy: Annotated[Path | None, typer.Option(help="A policy file. Default: the built-in policy.")] = None,
    out: Annotated[
        Path | None, typer.Option(help="Write report.html, report.md, junit.xml and verdict.json there.")
    ] = None,
    allow_same: Annotated[
        bool,
        typer.Option(
            "--allow-same",
            help="Compare a variant with itself: two runs of one variant, or before and after an update of a library.",
        ),
    ] = False,
    report_only: Annotated[
        bool, typer.Option("--report-only", help="End with 0 whatever the decision; it is still printed.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Compare stored records case by case and slice by slice, and decide.

    **Examples**

    `qeval compare runs/a/records/fp32 runs/a/records/nf4`

    `qeval compare runs/a/records/fp32 runs/a/records/{int8,nf4} --policy policy.yaml --out report --json`

    `qeval compare runs/monday/records/nf4 runs/tuesday/records/nf4 --allow-same`
    """
    from qeval.compare.policy import load_policy
    from qeval.job import compare_folders
    from qeval.reporting.files import write_all
    from qeval.reporting.terminal import print_report

    report = compare_folders(baseline, candidates, load_policy(policy), allow_same=allow_same)
    written = write_all(report, out) if out else {}
    target = console(as_json=as_json)
    print_report(report, target)
    say_report_only(target, report.exit_code, report_only=report_only)
    if out:
        say(target, f"\nreport   {written['report.html']}")
    if as_json:
        print_json(
            {
                "decision": report.decision,
                "exit_code": report.exit_code,
                "candidates": {c.candidate: c.decision for c in report.candidates},
                "reports": {name: str(path) for name, path in written.items()},
            }
        )
    raise Finished(0 if report_only else report.exit_code)
