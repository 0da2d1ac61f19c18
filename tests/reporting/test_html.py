from __future__ import annotations

import base64
import hashlib
import json
import re
from html.parser import HTMLParser

import pytest
from hypothesis import given

from qeval.reporting.html import render_html
from qeval.reporting.visible import visible
from tests.reporting.fake import HOSTILE, changed, empty_report, full_report, picked_report
from tests.reporting.strategies import few, hostile_texts

VOID = {"meta", "link", "br", "hr", "img", "input", "rect", "line", "circle"}
ALLOWED = {
    "html", "head", "meta", "title", "style", "body", "header", "nav", "main", "section", "aside", "article", "figure",
    "figcaption", "div", "span", "p", "h1", "h2", "h3", "ul", "li", "dl", "dt", "dd", "b", "i", "small", "code", "pre",
    "mark", "a", "table", "thead", "tbody", "tr", "th", "td", "details", "summary", "form", "label", "select", "option",
    "input", "button", "output", "script", "svg", "rect", "line", "circle", "text",
}  # fmt: skip


class Page(HTMLParser):
    """Reads a page as a browser would, and checks on the way that every element is closed."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.attributes: list[tuple[str, str]] = []
        self.texts: list[tuple[str, str]] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self.attributes += attrs
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self.attributes += attrs

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append((self.open[-1] if self.open else "", data))

    def inside(self, tag):
        return "".join(data for where, data in self.texts if where == tag)


@pytest.fixture(scope="module")
def html():
    return render_html(full_report())


@pytest.fixture(scope="module")
def page(html):
    return Page(html)


def test_nothing_is_fetched_from_anywhere(html, page):
    links = [
        value for name, value in page.attributes if name in {"src", "href", "srcset", "action", "data", "xlink:href"}
    ]
    assert links
    assert all(value.startswith("#") for value in links)
    assert not re.search(r"url\(|@import|fetch\(|XMLHttpRequest|import\(", page.inside("style") + page.inside("script"))
    assert len(html.encode("utf-8")) < 500_000


def test_the_security_policy_allows_the_own_style_and_script_and_nothing_else(page):
    policy = next(a["content"] for _, a in page.tags if a.get("http-equiv") == "Content-Security-Policy")
    for tag in ("style", "script"):
        digest = base64.b64encode(hashlib.sha256(page.inside(tag).encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none';")
    assert "unsafe" not in policy
    # Style attributes and event handlers would be blocked by that policy, so there must be none.
    assert not [name for name, _ in page.attributes if name == "style" or name.startswith("on")]


@given(hostile_texts)
@few
def test_no_text_becomes_an_element_or_an_attribute(text):
    case = changed("nf4", text, "right_to_wrong", suite="schema", question=text, expected=text, candidate_text=text,
                   baseline_fault=text, candidate_fault=text, tags={"t": text, text: "v"})  # fmt: skip
    page = Page(render_html(full_report(changed=(case,), warnings=(text,), model=text)))
    assert {tag for tag, _ in page.tags} <= ALLOWED
    assert len([tag for tag, _ in page.tags if tag == "script"]) == 1
    assert not [name for name, _ in page.attributes if name.startswith("on")]


def test_every_hostile_text_can_be_read_on_the_page(page):
    shown = "".join(data for _, data in page.texts)
    for name in ("html", "script_end", "arabic", "emoji", "fences", "mentions", "markdown", "template"):
        assert HOSTILE[name] in shown, name


def test_invisible_characters_are_boxed_and_named(html):
    assert '<span class="unsafe" title="right-to-left override">U+202E</span>001' in html
    assert not re.search(
        "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]", html
    )
    html.encode("utf-8")


def test_names_in_titles_and_attributes_hold_no_invisible_character():
    hidden = "a\u202eb\x00"
    case = changed(hidden, hidden, "right_to_wrong", suite=hidden, tags={hidden: hidden})
    html = render_html(full_report(model=hidden, changed=(case,)))
    assert not re.search("[\x00\u202e]", html)
    assert "<title>Not comparable: a⟨U+202E⟩b⟨U+0000⟩ | qeval</title>" in html


def test_long_answers_are_cut_and_what_is_missing_is_counted(page):
    assert f"{len(HOSTILE['long']) - 6000} more characters are in the record." in "".join(d for _, d in page.texts)


def test_cases_carry_what_the_filters_ask_for(page):
    cases = [a for tag, a in page.tags if tag == "article" and "data-kind" in a]
    assert len(cases) == len(full_report().changed)
    first = cases[0]
    assert (first["data-candidate"], first["data-suite"], first["data-kind"]) == ("nf4", "longdoc", "right_to_wrong")
    assert json.loads(first["data-tags"]) == ["depth=0.9", "lang=en", "tokens=4k"]
    options = {a.get("value") for tag, a in page.tags if tag == "option"}
    assert {"nf4", "longdoc", "depth=0.9", "right_to_wrong"} <= options


def test_only_some_thousand_cases_are_on_the_page_and_the_rest_is_counted():
    cases = tuple(changed("nf4", f"c{i}", "text_changed", candidate_text="", baseline_text="") for i in range(2100))
    html = render_html(full_report(changed=cases))
    assert html.count('<article class="case"') == 2000
    assert "100 more changed cases are in verdict.json." in html


def test_every_candidate_and_verdict_is_on_the_page(page):
    shown = "".join(data for _, data in page.texts)
    for candidate in full_report().candidates:
        assert candidate.candidate in shown
        for verdict in candidate.verdicts:
            assert verdict.reason in shown


def test_charts_stay_inside_their_plot(page):
    places = [
        value for name, value in page.attributes if name in {"x1", "x2", "cx", "x", "width"} and value.endswith("%")
    ]
    assert places
    assert all(0 <= float(place.rstrip("%")) <= 100 for place in places)


def test_an_unknown_measure_draws_no_bar(html):
    bars = re.findall(r"<dt>int8\+kv=int4</dt>\s*<dd>(.*?)</dd>", html, re.DOTALL)
    assert len(bars) == 3
    assert all('class="fill"' not in bar and "n/a" in bar for bar in bars)


def test_a_run_in_which_nothing_was_compared_has_a_page_too():
    page = Page(render_html(empty_report()))
    shown = "".join(data for _, data in page.texts)
    assert "Nothing was compared." in shown
    assert "No answer changed." in shown
    assert visible("Incomplete") in shown


def row(html: str, label: str) -> str:
    [found] = [r for r in re.findall(r"<tr class=.*?</tr>", html, re.DOTALL) if f">{label}</span>" in r]
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", found))


def test_a_row_says_what_its_cases_are_worth_could_show_and_need(html):
    report = full_report()
    nf4 = render_html(full_report(candidates=report.candidates[:1]))
    shown = row(nf4, "toolcalls")
    for text in ("11 clusters", "effective 14.6", "needs +1,386", " none ", "+6.2 pp", "-1.8 to +14.3"):
        assert text in shown
    assert "margin inside the noise" in shown


def test_a_row_tells_both_arms_against_themselves_and_both_strata():
    shown = row(render_html(full_report(candidates=full_report().candidates[:1])), "toolcalls")
    assert "Baseline: rate 7.4 % (6 of 32 flipped in 5 runs), 12 texts changed, 14 diverged" in shown
    assert "Candidate: rate 14.1 % (9 of 32 flipped in 5 runs), 20 texts changed, 22 diverged" in shown
    assert "Stable: 21 cases, lost 1, won 0" in shown
    assert "Unstable: 3 cases, lost 1, won 1" in shown


def test_nothing_is_said_of_repeats_where_there_were_none():
    html = render_html(full_report(candidates=full_report().candidates[2:3]))
    assert "against itself</summary>" not in html
    assert "ended early</span>" in html


def test_exploratory_slices_are_ranked_by_the_shrunken_difference_and_it_is_said(html):
    table = html[html.index("exploratory slices, reported") :]
    assert table.index("all/script=Latn") < table.index("all/script=Arab") < table.index("schema/kind=nested")
    assert "Ranked by the shrunken difference" in table
    assert "Rulings and intervals are not shrunken." in table
    assert "shrunken -13.1" in table


def test_sampled_answers_have_a_table_and_greedy_ones_none(html, page):
    cells = [data for where, data in page.texts if where == "td"]
    assert {"84.4 %", "21.9 %"} <= set(cells)
    assert 'id="sampled"' not in render_html(empty_report())


def test_the_picked_candidate_is_in_the_banner_and_on_its_card():
    html = render_html(picked_report())
    assert "Taking <code>nf4</code>: smallest of 2 accepted." in html
    assert html.count('<span class="tag">picked</span>') == 2
