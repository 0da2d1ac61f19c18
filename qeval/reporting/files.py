"""All reports of a run, written into its folder."""

from __future__ import annotations

from pathlib import Path

from qeval.compare.report import Report
from qeval.jsonl import write_atomic
from qeval.reporting.junit import render_junit
from qeval.reporting.markdown import render_markdown
from qeval.reporting.verdict import VERDICT_FILE, render_verdict

HTML_FILE = "report.html"
MARKDOWN_FILE = "report.md"
JUNIT_FILE = "junit.xml"


def render_all(report: Report) -> dict[str, str]:
    """Return the text of every report by file name; verdict.json first: it is the result, the others show it."""
    from qeval.reporting.html import render_html  # jinja2 loads only when a page is written

    return {
        VERDICT_FILE: render_verdict(report),
        MARKDOWN_FILE: render_markdown(report),
        JUNIT_FILE: render_junit(report),
        HTML_FILE: render_html(report),
    }


def write_all(report: Report, folder: Path) -> dict[str, Path]:
    """Write verdict.json, report.md, junit.xml and report.html, each by atomic rename.

    Returns:
        Paths by file name.
    """
    texts = render_all(report)
    for name, text in texts.items():
        write_atomic(folder / name, text)
    return {name: folder / name for name in texts}
