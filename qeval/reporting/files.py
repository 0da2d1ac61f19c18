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


def write_all(report: Report, folder: Path) -> dict[str, Path]:
    """Write verdict.json, report.md, junit.xml and report.html, each by atomic rename.

    Returns:
        Paths by file name. verdict.json is written first: it is the result, the others are views of it.
    """
    from qeval.reporting.html import render_html  # jinja2 loads only when a page is written

    renderers = {
        VERDICT_FILE: render_verdict,
        MARKDOWN_FILE: render_markdown,
        JUNIT_FILE: render_junit,
        HTML_FILE: render_html,
    }
    paths = {}
    for name, render in renderers.items():
        paths[name] = folder / name
        write_atomic(paths[name], render(report))
    return paths
