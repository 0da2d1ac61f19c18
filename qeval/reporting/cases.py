"""Cases in a terminal: a suite's as a list, one as the model sees it."""

from __future__ import annotations

from collections.abc import Sequence

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from qeval.jsonl import dumps
from qeval.reporting.visible import visible
from qeval.suites.case import Case


def print_cases(cases: Sequence[Case], console: Console) -> None:
    """Print a line a case; page by page where the list is longer than the terminal is high."""
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    for title in ("case", "kind", "graders", "cluster"):
        table.add_column(title, overflow="fold")
    for case in cases:
        graders = ", ".join(str(grader["kind"]) for grader in case.graders)
        cells = (case.id, case.tags.get("kind", ""), graders, case.cluster or "(its own)")
        table.add_row(*(Text(visible(cell)) for cell in cells))
    if console.is_terminal and len(cases) > console.height:
        with console.pager():
            console.print(table)
    else:
        console.print(table)


def print_case(name: str, case: Case, rendered: str | None, console: Console) -> None:
    """Print a case: what the model reads, then what is expected of it.

    Args:
        name: suite and id.
        case: the case.
        rendered: the text the model reads; None shows messages and tools instead.
        console: where to.
    """
    _head(console, name)
    if rendered is None:
        for message in case.messages:
            calls = "".join(f"\n{dumps(call.model_dump(mode='json'))}" for call in message.tool_calls)
            _part(console, message.role, message.content + calls)
        for tool in case.tools:
            _part(console, f"tool {tool.name}", dumps(tool.model_dump(mode="json"), indent=1))
        if case.response_schema is not None:
            _part(console, "response_schema", dumps(case.response_schema, indent=1))
    else:
        _part(console, "prompt", rendered)
    for grader in case.graders:
        _part(console, f"expected, {grader['kind']}", dumps({k: v for k, v in grader.items() if k != "kind"}))
    _part(console, "tags", ", ".join(f"{key}={value}" for key, value in case.tags.items()) or "none")
    _part(console, "cluster", case.cluster or "its own")
    if case.tenant is not None:
        _part(console, "tenant", case.tenant)
    _part(console, "limit", f"{case.max_new_tokens} tokens")


def _head(console: Console, text: str) -> None:
    console.print(Text(visible(text), style="bold"), highlight=False, soft_wrap=True)


def _part(console: Console, title: str, text: str) -> None:
    console.print(Text(f"── {visible(title)}", style="dim"), highlight=False, soft_wrap=True)
    console.print(Text(visible(text)), highlight=False, soft_wrap=True)
