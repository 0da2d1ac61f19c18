"""`qeval suites check`: validate and lint suites without a model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from qeval.cli.output import Finished, Json, console, print_json, say
from qeval.errors import ExitCode

if TYPE_CHECKING:
    from rich.console import Console

    from qeval.suites.lint import Finding
    from qeval.suites.lint.blind import Probed
    from qeval.suites.load import PlacedSuite

_SHOWN = 20


def check(
    suites: Annotated[list[str], typer.Argument(help="Names of built-in suites, folders or .jsonl files.")],
    size: Annotated[str, typer.Option(help="smoke, standard or full.")] = "smoke",
    policy: Annotated[Path | None, typer.Option(help="A policy file. Default: the built-in policy.")] = None,
    as_json: Json = False,
) -> None:
    """Check suites as `qeval run` would before it loads a model, and for what would run and yet mislead.

    Ends with 2 when there is an error: a faulty case, or one that no answer could pass. Warnings alone end with 0:
    formats and keywords nobody checks, equal and near-equal prompts, limits that cut a right answer, slices too small
    for the policy's margins, and cases that pass an answer to nothing: an empty one, babble, the prompt repeated, a
    refusal, {}. How many of a suite's cases pass each of these is said too: it is what a model would score that says
    nothing else.

    **Examples**

    `qeval suites check longdoc`

    `qeval suites check ./my-suite --size standard --policy policy.yaml --json`
    """
    from qeval.compare.policy import load_policy
    from qeval.compare.suite_doubts import suite_doubts
    from qeval.suites.case import size_called
    from qeval.suites.lint import Finding, independence_findings, independence_of, lint
    from qeval.suites.lint.blind import probe
    from qeval.suites.load import load_placed

    checked = [load_placed(name, size_called(size)) for name in suites]
    loaded = [placed.suite for placed in checked]
    together = independence_of(loaded)
    probed = [probe(placed) for placed in checked]
    findings = [
        *lint(checked),
        *independence_findings(together),
        *(finding for one in probed for finding in one.findings),
        *(Finding(level="warning", text=text) for text in suite_doubts(loaded, load_policy(policy))),
    ]
    target = console(as_json=as_json)
    _print_findings(findings, target)
    for placed, one in zip(checked, probed, strict=True):
        _print_suite(placed, one, findings, target)
    if as_json:
        print_json(
            {
                "suites": [_summary(placed, one) for placed, one in zip(checked, probed, strict=True)],
                "independence": together.model_dump(),
                "findings": [finding.model_dump() for finding in findings],
            }
        )
    if any(finding.level == "error" for finding in findings):
        raise Finished(ExitCode.USAGE)


def _print_findings(findings: Sequence[Finding], target: Console) -> None:
    """Print each different finding once, errors first, with the first case it was found in."""
    kinds: dict[tuple[str, str], list[Finding]] = {}
    for finding in sorted(findings, key=lambda finding: finding.level):
        kinds.setdefault((finding.level, finding.text), []).append(finding)
    for (level, text), same in list(kinds.items())[:_SHOWN]:
        case = "" if same[0].case is None else f", case '{same[0].case}'"
        place = "" if same[0].where is None else f"{same[0].where}{case}: "
        more = f" ({len(same) - 1} more such cases)" if len(same) > 1 else ""
        say(target, f"{level}: {place}{text}{more}")
    if len(kinds) > _SHOWN:
        say(target, f"... and {len(kinds) - _SHOWN} more findings; --json has all")


def _print_suite(placed: PlacedSuite, probed: Probed, findings: Sequence[Finding], target: Console) -> None:
    about = _summary(placed, probed)
    own = [finding.level for finding in findings if finding.suite == placed.suite.name]
    said = f"{own.count('error')} errors, {own.count('warning')} warnings" if own else "no faults"
    say(target, f"{about['name']}: {about['cases']} cases in {about['clusters']} clusters, {said}")
    for line in _shares(placed, probed):
        say(target, f"  {line}")


def _shares(placed: PlacedSuite, probed: Probed) -> Iterator[str]:
    """Yield, for each answer to nothing that some case passes, what a model would score with it alone."""
    from qeval.suites.lint.blind import PROBES
    from qeval.units import percent

    n_all = len(placed.suite.cases)
    for name, n in probed.passed.items():
        if n:
            yield f"a model whose every answer {PROBES[name]} would pass {n} of {n_all} cases ({percent(n / n_all)})"


def _summary(placed: PlacedSuite, probed: Probed) -> dict[str, object]:
    from qeval.independence import settle
    from qeval.suites.asked import known

    suite = placed.suite
    clusters = len({shared.cluster for shared in settle(known(suite.name, case) for case in suite.cases).values()})
    return {
        "name": suite.name,
        "cases": len(suite.cases),
        "clusters": clusters,
        "digest": suite.digest,
        "passes_answer_to_nothing": dict(probed.passed),
    }
