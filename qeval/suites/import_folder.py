"""An imported suite as a folder: suite.yaml, cases.jsonl, and a README that says what became of every row."""

from __future__ import annotations

from pathlib import Path

import yaml

from qeval.errors import UsageError
from qeval.folders import names_in, write_folder
from qeval.jsonl import dumps
from qeval.suites.importers._origin import source_name
from qeval.suites.importing import OWN_ANSWER_FAILS, Imported, Joined, by_reason
from qeval.suites.load import CASES_FILE, HEADER_FILE

README = "README.md"
_MARK = "<!-- written by `qeval suites import "
_MASK_WARNING = (
    "Different values in each case, by rule. Names of people, postal addresses and the like are not found by rules: "
    "read the cases before you pass them on."
)
_FILES = frozenset({README, CASES_FILE, HEADER_FILE})


def named_after(out: Path) -> str:
    """Return the name of the suite in a folder, so that two imports of one kind have two names.

    >>> named_after(Path("suites/My Traffic"))
    'my-traffic'
    """
    name = out.resolve().name.lower()
    return (
        "".join(char if char.isascii() and (char.isalnum() or char in "-_") else "-" for char in name).strip("-_")
        or "suite"
    )


def check_out(out: Path, *, force: bool) -> None:
    """Refuse a place whose content would be lost.

    Raises:
        UsageError: a file, or a folder with something in it, unless that is an earlier import and `force` is given.
    """
    if (out.exists() or out.is_symlink()) and not out.is_dir():
        raise UsageError(f"{out}: is there and no folder. Give a new folder with --out.")
    there = names_in(out) if out.is_dir() else []
    if not there:
        return
    readme = out / README
    earlier = set(there) <= _FILES and readme.is_file() and readme.read_bytes().startswith(_MARK.encode())
    if not earlier:
        raise UsageError(f"{out}: holds {there[0]}, which is no earlier import. Give a new folder with --out.")
    if not force and HEADER_FILE in there:
        # Without its header an import was cut short, and nothing of it is of use.
        raise UsageError(f"{out}: holds an earlier import. Give another --out, or --force to replace it.")


def write_suite(imported: Imported, out: Path) -> None:
    """Write the suite's folder: whole, or without its header, which is written last."""
    header = yaml.safe_dump(
        imported.header.model_dump(mode="json", exclude_defaults=True), sort_keys=False, allow_unicode=True, width=120
    )
    cases = "".join(f"{dumps(case, sort=False)}\n" for case in imported.cases)
    # The README first, since it is what an import is recognised by.
    write_folder(out, {README: readme_of(imported), CASES_FILE: cases, HEADER_FILE: header})


def readme_of(imported: Imported) -> str:
    """Return the README: source, licence, counts, what was dropped and why, what was masked."""
    parts = [
        f"{_MARK}{imported.kind}`; --force replaces it -->\n# {imported.header.name}\n",
        f"**stands for** {imported.header.description}\n",
        _facts(imported),
        _section("What the importer did", [f"- {note}" for note in imported.notes]),
        _section("Not taken over", _dropped(imported)),
        _section(
            "Left out: the answer they came with fails them", [f"- {_cell(told)}" for told in _left_out(imported)]
        ),
        _section("Kept: the answer they came with fails them", [f"- {_cell(told)}" for told in imported.failing]),
        _section("Masked", _masked(imported)),
    ]
    return "\n".join(filter(None, parts))


def _facts(imported: Imported) -> str:
    drawn = (
        f", a sample of {imported.valid} drawn with seed {imported.seed}"
        if len(imported.cases) < imported.valid
        else ""
    )
    rows = [
        ("source", f"`{source_name(imported.source)}`, read as {imported.kind}"),
        ("licence", imported.licence or "not stated beside the source; look it up before you pass the cases on"),
        ("rows read", f"{imported.rows}"),
        ("cases", f"{len(imported.cases)}{drawn}"),
        ("clusters", f"{imported.clusters}"),
        *([] if imported.near_equal is None else [("near-equal prompts", near_equal_said(imported.near_equal))]),
    ]
    return "\n".join(["| | |", "|---|---|", *(f"| {name} | {_cell(text)} |" for name, text in rows), ""])


def near_equal_said(found: Joined) -> str:
    """Say how many cases differ from others in values or a few words alone.

    >>> near_equal_said(Joined(36, 3))
    '36 cases in 3 groups; each group is one cluster'
    """
    return f"{found.cases} cases in {found.groups} groups; each group is one cluster" if found.cases else "none"


def _left_out(imported: Imported) -> list[str]:
    return [row.example for row in imported.dropped if row.reason == OWN_ANSWER_FAILS]


def _dropped(imported: Imported) -> list[str]:
    if not imported.dropped:
        return ["Every row became a case."]
    rows = [f"| {n} | {_cell(reason)} | {_cell(first.example)} |" for reason, n, first in by_reason(imported.dropped)]
    return ["| rows | why | first |", "|---|---|---|", *rows]


def _masked(imported: Imported) -> list[str]:
    if imported.masked is None:
        return []
    rows = [f"| {rule.name} | {imported.masked.get(rule.name, 0)} | {_cell(rule.hides)} |" for rule in imported.rules]
    return [_MASK_WARNING, "", "| rule | values | hides |", "|---|---|---|", *rows]


def _section(title: str, lines: list[str]) -> str:
    return "\n".join([f"## {title}\n", *lines, ""]) if lines else ""


def _cell(text: str, limit: int = 300) -> str:
    flat = " ".join(text.split()).replace("|", "\\|")
    return flat if len(flat) <= limit else f"{flat[:limit]}..."
