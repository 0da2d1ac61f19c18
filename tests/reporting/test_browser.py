"""The page in a real browser: nothing a model printed runs, the filters work, and there is something to see."""

from __future__ import annotations

import re
import subprocess
import tempfile
from pathlib import Path

import pytest

from qeval.reporting.html import render_html
from scripts.screenshot import FLAGS, browser, screenshot
from tests.reporting.fake import HOSTILE, changed, full_report

pytestmark = [pytest.mark.slow, pytest.mark.skipif(browser() is None, reason="no Chromium is installed")]


def rendered(html: str, folder: Path) -> str:
    """Return the page as it stands after its scripts ran."""
    page = folder / "page.html"
    page.write_text(html, encoding="utf-8")
    program = browser()
    assert program is not None
    with tempfile.TemporaryDirectory() as profile:
        command = [
            program,
            *FLAGS,
            "--window-size=1280,1000",
            f"--user-data-dir={profile}",
            "--dump-dom",
            page.as_uri(),
        ]
        return subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout


def driven(script: str) -> str:
    """The page with a script of the test's own, and without the policy that would forbid it."""
    html = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", render_html(full_report()))
    return html.replace("</body>", f"<script>{script}</script></body>")


def shown(dom: str) -> list[str]:
    tags = re.findall(r'<article class="case"[^>]*>', dom)
    return [tag for tag in tags if not re.search(r'\shidden(=""|>|\s)', tag)]


def test_no_text_of_a_model_runs_and_the_own_script_does(tmp_path):
    dom = rendered(render_html(full_report()), tmp_path)
    assert "<title>Not comparable: smollm2-135m | qeval</title>" in dom
    assert "22 of 22" in dom
    assert "<img" not in dom


def test_the_policy_stops_what_escaping_would_let_through(tmp_path):
    html = render_html(full_report()).replace("</main>", f"</main>{HOSTILE['script_end']}{HOSTILE['html']}")
    assert "<title>owned</title>" not in rendered(html, tmp_path)


def test_filters_leave_the_cases_asked_for(tmp_path):
    script = """
      const form = document.querySelector("form.filters");
      form.elements.candidate.value = "nf4";
      form.elements.tag.value = "depth=0.9";
      form.elements.kind.value = "right_to_wrong";
      form.dispatchEvent(new Event("input"));
    """
    dom = rendered(driven(script), tmp_path)
    assert "2 of 22" in dom
    assert all('data-suite="longdoc"' in tag for tag in shown(dom))
    assert len(shown(dom)) == 2


def test_search_finds_text_in_any_script(tmp_path):
    script = """
      const form = document.querySelector("form.filters");
      form.elements.text.value = "القاهرة";
      form.dispatchEvent(new Event("input"));
    """
    assert len(shown(rendered(driven(script), tmp_path))) == 2


def test_a_slice_of_the_verdicts_leads_to_its_cases(tmp_path):
    script = """
      [...document.querySelectorAll("[data-show-candidate=nf4]")]
        .find((button) => button.dataset.showTag === "depth=0.9").click();
    """
    dom = rendered(driven(script), tmp_path)
    assert "2 of 22" in dom


def test_nothing_is_wider_than_a_window_of_1280_pixels_even_with_all_details_open(tmp_path):
    script = """
      for (const details of document.querySelectorAll("details")) details.open = true;
      const boxes = document.querySelectorAll("html, .scroll, .panel, .card, .candidate, td, th");
      const wide = [...boxes].filter((node) => node.scrollWidth > node.clientWidth + 1 && node.clientWidth > 0);
      document.title = wide.length ? `too wide: ${wide[0].className} ${wide[0].textContent.trim()}` : "all fits";
    """
    assert "<title>all fits</title>" in rendered(driven(script), tmp_path)


def test_many_cases_are_shown_a_page_at_a_time(tmp_path):
    cases = tuple(changed("nf4", f"c{i}", "right_to_wrong") for i in range(95))
    dom = rendered(render_html(full_report(changed=cases)), tmp_path)
    assert len(shown(dom)) == 40
    assert "Show 40 more" in dom


@pytest.mark.parametrize(("width", "dark"), [(1280, False), (1280, True), (420, False)])
def test_a_picture_of_the_page_is_not_blank(tmp_path, width, dark):
    page, picture = tmp_path / "report.html", tmp_path / "report.png"
    page.write_text(render_html(full_report()), encoding="utf-8")
    screenshot(page, picture, width=width, height=1200, dark=dark)
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert picture.stat().st_size > 30_000
