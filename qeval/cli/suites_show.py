"""`qeval suites show`: a suite's cases, or one as the model will see it."""

from __future__ import annotations

from typing import Annotated

import typer

from qeval.cli.output import Json, console, print_json, progress_console, say
from qeval.errors import UsageError


def show(
    what: Annotated[
        str,
        typer.Argument(metavar="SUITE[/CASE-ID]", help="A suite to list, or one case of it, or a case's .json file."),
    ],
    model: Annotated[
        str | None, typer.Option(help="With a case: show it as this model reads it, through its chat template.")
    ] = None,
    size: Annotated[str, typer.Option(help="smoke, standard or full.")] = "smoke",
    as_json: Json = False,
) -> None:
    """Show a suite's cases, or one case as the model will see it, with what is expected of the answer.

    **Examples**

    `qeval suites show longdoc --size standard`

    `qeval suites show schema/schema-0003 --model smollm2-135m`

    `qeval suites show ./my-suite/case-7 --json`
    """
    from qeval.suites.case import size_called
    from qeval.suites.lookup import is_suite

    if not is_suite(what):
        _show_case(what, model, size, as_json=as_json)
        return
    if model is not None:
        raise UsageError(f"--model shows one case. Name one: {what}/CASE-ID; without --model its cases are listed.")
    from qeval.reporting.cases import print_cases
    from qeval.suites.load import load_suite

    suite = load_suite(what, size_called(size))
    target = console(as_json=as_json)
    print_cases(suite.cases, target)
    say(target, f"{suite.name}: {len(suite.cases)} cases")
    if as_json:
        listed = [case.model_dump(mode="json", include={"id", "tags", "cluster"}) for case in suite.cases]
        print_json({"suite": suite.name, "size": suite.size, "cases": listed})


def _show_case(name: str, model: str | None, size: str, *, as_json: bool) -> None:
    from qeval.reporting.cases import print_case
    from qeval.suites.case import size_called
    from qeval.suites.lookup import Cases

    found = Cases(size_called(size)).find(name)
    text: str | None = None
    n_tokens: int | None = None
    if model is not None:
        from qeval.engines.preview import preview
        from qeval.models.locate import resolve

        progress = progress_console()
        resolved = resolve(model, progress=lambda said: say(progress, said))
        prompt = preview(found.case, resolved)
        text, n_tokens = prompt.text, len(prompt.token_ids)
    title = f"{found.suite}/{found.case.id}"
    target = console(as_json=as_json)
    print_case(title if n_tokens is None else f"{title}: {n_tokens} prompt tokens", found.case, text, target)
    if as_json:
        case = found.case.model_dump(mode="json")
        print_json({"suite": found.suite, "case": case, "rendered": text, "prompt_tokens": n_tokens})
