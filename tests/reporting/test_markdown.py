from __future__ import annotations

import re

import pytest
from hypothesis import given
from markdown_it import MarkdownIt

from qeval.reporting.markdown import LENGTH_LIMIT, code, fence, prose, render_markdown
from qeval.reporting.visible import visible
from tests.reporting.fake import HOSTILE, changed, empty_report, full_report, picked_report, variant, verdict
from tests.reporting.strategies import few, hostile_texts

OUR_HTML = re.compile(
    r"<details><summary>[^<>]*<code>[^<>]*</code>[^<>]*</summary>|</details>|<!-- -->|</?sub>|\s", re.ASCII
)


def parse(text):
    return MarkdownIt("commonmark").enable("table").parse(text)


def flat(tokens):
    for token in tokens:
        yield token
        yield from flat(token.children or [])


def html_left(text):
    """What the document holds as raw HTML besides the report's own."""
    raw = "".join(token.content for token in flat(parse(text)) if token.type in {"html_block", "html_inline"})
    return OUR_HTML.sub("", raw)


def code_texts(text):
    return [token.content for token in flat(parse(text)) if token.type in {"fence", "code_inline"}]


@given(hostile_texts)
def test_a_fence_holds_whatever_a_model_prints(text):
    shown = visible(text)
    [block, after] = [t for t in parse(f"{fence(shown)}\n\nafter\n") if t.type in {"fence", "inline"}]
    assert block.content == shown.replace("\r\n", "\n") + "\n"
    assert after.content == "after"


@given(hostile_texts)
def test_a_code_span_fills_exactly_one_cell(text):
    document = f"| a | b |\n| --- | --- |\n| {code(text)} | end |\n"
    cells = [t for t in parse(document) if t.type == "inline"][2:]
    assert len(cells) == 2
    assert [child.type for child in cells[0].children] == ["code_inline"]
    assert cells[1].content == "end"


def test_a_backslash_before_a_pipe_does_not_free_the_pipe():
    # GitHub's parser counts backslashes, where the one used here looks at the last only.
    assert code("a\\|b") == "`a\\\\\\|b`"


@given(hostile_texts)
def test_prose_is_plain_text_to_the_parser(text):
    tokens = list(flat(parse(f"- {prose(text)} .\n")))
    kinds = {t.type for t in tokens} - {"bullet_list_open", "bullet_list_close", "list_item_open", "list_item_close"}
    assert kinds <= {"paragraph_open", "paragraph_close", "inline", "text", "html_inline"}
    assert html_left(f"- {prose(text)} .\n") == ""


@given(hostile_texts)
@few
def test_no_html_and_no_mention_leaves_the_code_of_a_whole_report(text):
    case = changed(
        "nf4", text, "right_to_wrong", question=text, candidate_text=text, candidate_fault=text, tags={"t": text}
    )
    document = render_markdown(full_report(changed=(case,), warnings=(text,), model=text or "m"))
    assert html_left(document) == ""
    outside = "\n".join(token.content for token in flat(parse(document)) if token.type == "text")
    assert not re.search(r"@\w|#\d|://", outside)


def test_every_hostile_text_stands_in_a_fence(report):
    found = "".join(code_texts(render_markdown(report)))
    for name, text in HOSTILE.items():
        assert visible(text[:300]) in found, name


def test_a_report_of_thousands_of_cases_fits_a_comment_and_counts_the_rest():
    cases = tuple(changed("nf4", f"case-{i}", "right_to_wrong", candidate_text="long " * 200) for i in range(3000))
    document = render_markdown(full_report(changed=cases))
    assert len(document) < LENGTH_LIMIT
    shown = document.count("<details>")
    assert f"{3000 - shown} more changed cases are in report.html." in document
    assert document.count("<details>") == document.count("</details>") > 10


def test_a_report_of_hundreds_of_candidates_and_slices_fits_too():
    base = full_report()
    many = tuple(
        base.candidates[0].model_copy(update={"candidate": f"nf4+keep=layers.{i}", "verdicts": slices})
        for i, slices in enumerate([tuple(verdict("longdoc", tag="t", value=str(k), role="required", ruling="regressed")
                                          for k in range(60))] * 300)
    )  # fmt: skip
    report = full_report(candidates=many, variants=tuple(variant(f"nf4+keep=layers.{i}") for i in range(300)))
    document = render_markdown(report)
    assert len(document) < LENGTH_LIMIT
    assert "more rows are in report.html." in document
    assert html_left(document) == ""


def test_worst_cases_come_first_and_unstable_ones_later(report):
    document = render_markdown(report)
    order = [document.index(f"longdoc/{name}<") for name in ("needle-017", "needle-018")]
    assert order == sorted(order)
    assert document.index("needle-018<") < document.index("refuse-30<") < document.index("call-11<")


@pytest.mark.parametrize("text", ["accepted", "ACCEPTED"])
def test_an_incomplete_run_does_not_read_as_accepted(text):
    assert text not in render_markdown(empty_report())


def test_tables_say_what_could_show_what_is_needed_and_what_is_noise(report):
    document = render_markdown(report)
    assert "| 5.0 / none | inconclusive, needs +1,386 |" in document
    assert "| 2.0 / 13.8 | **regressed** |" in document
    noise = document[document.index("### Noise floor") :]
    assert "| `nf4` | `all` | 4.2 % (n 24) | 8.3 % (n 24) | +6.9 pp [-1.1, +14.9] | 3, 1 / 1 | 21, 9 / 0 |" in noise
    assert "int8+kv=int4" not in noise.partition("### Fidelity")[0]
    assert "| `all` | 4 | 160 | 84.4 % | 21.9 % |" in document


def test_an_early_end_and_a_pick_are_said(report):
    assert "⚠️ inconclusive, ended early (not required)" in render_markdown(report)
    picked = render_markdown(picked_report())
    assert "Taking `nf4`: smallest of 2 accepted." in picked
    assert "Noise floor" not in render_markdown(empty_report())
