"""Fidelity in the reports: the same figures everywhere, bounds marked, nothing where nothing was measured."""

from __future__ import annotations

import pytest
from hypothesis import given
from rich.console import Console

from qeval.compare.fidelity_result import SelfFidelity
from qeval.compare.report import LimitResult, SliceKey
from qeval.reporting import fidelity
from qeval.reporting.html import render_html
from qeval.reporting.junit import render_junit
from qeval.reporting.markdown import render_markdown
from qeval.reporting.terminal import to_text
from tests.reporting import fake_fidelity
from tests.reporting.fake import changed, divergence, full_report
from tests.reporting.fake_fidelity import slice_fidelity, statistics
from tests.reporting.strategies import few, hostile_texts


def bare_report():
    """A run in which no fidelity was measured, and which has no bound on it."""
    base = full_report()
    candidates = tuple(c.model_copy(update={"fidelity": None, "limits": ()}) for c in base.candidates)
    cases = tuple(case.model_copy(update={"divergence": None}) for case in base.changed)
    return base.model_copy(update={"candidates": candidates, "changed": cases})


def with_slices(*slices, **changes):
    nf4 = full_report().candidates[0].model_copy(update={"fidelity": fake_fidelity.fidelity(*slices, **changes)})
    return full_report(candidates=(nf4,))


def section(text, after):
    return text[text.index("Fidelity: distance") : text.index(after)]


RENDERERS = {
    "terminal": lambda report: to_text(report, 140),
    "markdown": render_markdown,
    "html": render_html,
}


@pytest.mark.parametrize("render", RENDERERS.values(), ids=RENDERERS)
def test_mean_tail_agreement_near_ties_and_noise_stand_in_every_report(report, render):
    text = render(report)
    for figure in ("0.147 ±0.013", "1.4", "94.2 %", "3/21", "0.0024", "61.4×", "0.043"):
        assert figure in text


@pytest.mark.parametrize("render", RENDERERS.values(), ids=RENDERERS)
def test_where_nothing_was_measured_nothing_is_shown(render):
    text = render(bare_report()).replace(".fidelity", "").replace("diverges", "")
    for word in ("Fidelity", "KL", "irst differs at", "near-tie"):
        assert word not in text


@pytest.mark.parametrize("render", RENDERERS.values(), ids=RENDERERS)
def test_a_lower_bound_is_never_written_as_exact(render):
    one = slice_fidelity(None, 0.107, over_noise=None)
    exact, bound = (render(with_slices(one, kind=kind, parts=())) for kind in ("exact", "top_k_bound"))
    assert "0.107" in exact
    assert "≥" not in exact
    assert bound.count("≥0.107") == bound.count("0.107")
    assert "these are bounds" in bound


@pytest.mark.parametrize("render", [RENDERERS["html"], lambda report: to_text(report, 140)], ids=["html", "terminal"])
def test_the_acceptance_of_a_bound_is_at_most_that(render):
    assert "≤91.9 %" in render(with_slices(slice_fidelity(None, 0.1), kind="top_k_bound"))


def test_failed_scorings_are_shown_on_the_page_by_class(report):
    page = render_html(report)
    assert "32 out_of_memory" in page
    assert "1 numeric_error" in page
    assert "1 not scored" in page


def test_how_exactly_the_baseline_was_stored_is_said_where_it_is_known(report):
    said = "stored to within 0.0007 nats at any position"
    assert said in render_html(report)
    assert said not in render_html(with_slices(slice_fidelity(None, 0.1), reconstruction_kl=None))


def test_what_is_not_known_is_not_a_number():
    few_tokens = statistics(0.3, kld_low=None, kld_high=None, kld_p99=None)
    at = slice_fidelity(None, 0.3, statistics=few_tokens, baseline_self=None, candidate_self=None, over_noise=None,
                        near_ties=None)  # fmt: skip
    assert fidelity.mean_text(at, "exact") == "0.3"
    assert (fidelity.p99_text(at, "exact"), fidelity.times_text(at), fidelity.near_ties_text(at)) == (
        "n/a",
        "n/a",
        "n/a/21",
    )
    none = slice_fidelity(None, 0.3, statistics=None)
    assert {fidelity.mean_text(none, "exact"), fidelity.same_text(none), fidelity.ratio_text(none)} == {"n/a"}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"over_noise": 0.9}, "no farther from the baseline than a variant lies from itself"),
        ({"over_noise": 12.34}, "12.3 times as far as"),
        ({"over_noise": None, "baseline_self": None, "candidate_self": None}, "no case was scored again"),
        ({"over_noise": None}, "not known well enough"),
        (
            {
                "over_noise": None,
                "candidate_self": None,
                "baseline_self": SelfFidelity(n_cases=2, n_tokens=128, kld_mean=0.0, same_top_p=1.0, shift_p99=0.0),
            },
            "came out the same",
        ),
    ],
)
def test_the_distance_is_put_into_words_beside_the_noise(changes, said):
    assert said in fidelity.noise_words(slice_fidelity(None, 0.1, **changes), "exact")


def test_the_page_draws_mean_and_noise_on_one_scale():
    panels = fidelity.panels(with_slices(slice_fidelity(None, 0.1), slice_fidelity("longdoc", 0.4)))
    assert [(row.width, row.noise_width) for row in panels[0].rows] == [(25.0, 0.6), (100.0, 0.6)]


def test_the_page_breaks_the_pool_down_by_class_position_and_prompt(report):
    page = render_html(report)
    for words, value in (("Class of token", "digit"), ("Position in the answer", "5-16"),
                         ("Tokens of the prompt", "257-1,024")):  # fmt: skip
        assert f'<span class="dim">{words}</span> {value}</th>' in page


@pytest.mark.parametrize("render", RENDERERS.values(), ids=RENDERERS)
def test_a_changed_case_says_where_it_first_differs(render):
    text = render(full_report(changed=(changed("nf4", "c", "right_to_wrong", divergence=divergence()),)))
    for part in ("irst differs at", "token 9", '" March"', '" May"', "gap 0.0213", "near-tie"):
        assert part in text.replace("&#34;", '"')


@pytest.mark.parametrize("render", [render_markdown, render_html], ids=["markdown", "html"])
def test_the_reverse_divergence_is_shown_where_it_was_measured(render):
    seen = statistics(0.1, reverse_kld_mean=0.1872, reverse_kld_high=0.2001, reverse_kld_p99=2.345)
    slices = (slice_fidelity(None, 0.1, statistics=seen), slice_fidelity("longdoc", 0.1, statistics=None))
    text = render(with_slices(*slices))
    for said in ("0.187 ±0.013", "2.35", "everse KL is KL(candidate", "baseline): large where the candidate likes"):
        assert said in text
    assert "≥0.187 ±0.013" in render(with_slices(*slices, kind="top_k_bound"))
    plain = render(with_slices(slice_fidelity(None, 0.1)))
    assert not [said for said in ("everse KL", ">reverse ") if said in plain]


def test_the_page_says_which_figures_are_of_the_reverse_divergence():
    seen = statistics(0.1, reverse_kld_mean=0.1872, reverse_kld_high=0.2001, reverse_kld_p99=2.345)
    page = render_html(with_slices(slice_fidelity(None, 0.1, statistics=seen)))
    assert ">reverse 0.187 ±0.013<" in page
    assert ">reverse 2.35<" in page


@given(hostile_texts)
@few
def test_a_token_stays_one_line_without_escapes(text):
    shown = fidelity.token_text(text)
    assert "\n" not in shown
    assert "\x1b" not in shown
    assert len(shown) <= 40


@pytest.mark.parametrize("width", [60, 80, 100, 140, 200])
def test_no_figure_is_cut_and_no_line_is_too_wide(report, width):
    shown = section(to_text(report, width), "Worst changed cases")
    assert "…" not in shown
    assert not [line for line in shown.split("\n") if Console(width=width).measure(line).minimum > width]
    [row] = [line for line in shown.split("\n") if line.startswith("  all") and "0.147" in line]
    assert {"±0.013", "0.0024", "94.2"} <= set(row.split())


def test_an_advisory_bound_fails_no_build():
    broken = LimitResult(name="max_kl_over_noise", slice=SliceKey(), level="advisory", broken=True, text="t")
    nf4 = full_report().candidates[0]
    texts = {
        level: render_junit(full_report(candidates=(nf4.model_copy(update={"limits": (limit,)}),)))
        for level, limit in {"advisory": broken, "critical": broken.model_copy(update={"level": "critical"})}.items()
    }
    failures = {level: text.count("<failure ") for level, text in texts.items()}
    assert failures["critical"] == failures["advisory"] + 1
    assert "max_kl_over_noise" not in render_markdown(full_report()).partition("### Hard limits")[2].partition("###")[0]
    assert "</b>, advisory, all: mean KL" in render_html(full_report())
