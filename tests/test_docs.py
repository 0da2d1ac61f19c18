"""Commands in docs run: each block marked `<!-- run -->` of these pages is executed in an empty folder."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from qeval.runner import run
from tests.cli.job_files import qeval_entry
from tests.one_process import run_here

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(r"<!-- (run|file (?P<name>\S+))(?: exit=(?P<code>\d+))? -->\n```\w*\n(?P<text>.*?)```", re.DOTALL)
LINK = re.compile(r"\]\((?!https?:|#|mailto:)([^)#]+)(?:#[^)]*)?\)")


@pytest.mark.parametrize("page", ["tutorial.md", "bring-your-own.md"])
def test_a_page_runs_as_written(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(run, "run_in_process", run_here)
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    blocks = list(BLOCK.finditer(text))
    assert len(blocks) >= 5
    for block in blocks:
        if block["name"]:
            (tmp_path / block["name"]).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / block["name"]).write_text(block["text"], encoding="utf-8")
            continue
        for line in block["text"].strip().splitlines():
            program, *arguments = shlex.split(line)
            assert program == "qeval", line
            done = qeval_entry(*arguments)
            assert done.returncode == int(block["code"] or 0), f"{line}\n{done.stdout}\n{done.stderr}"


@pytest.mark.parametrize(
    "path", sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("suites/**/*.md")]), ids=lambda p: p.name
)
def test_links_lead_to_files_that_exist(path: Path) -> None:
    for target in LINK.findall(path.read_text(encoding="utf-8")):
        assert (path.parent / target).exists(), f"{path.name}: {target}"
