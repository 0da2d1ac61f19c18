from __future__ import annotations

from xml.etree import ElementTree as ET

import pytest
from hypothesis import given

from qeval.reporting.junit import render_junit
from tests.reporting.fake import changed, empty_report, full_report, picked_report, variant
from tests.reporting.strategies import few, hostile_texts


def suites(report):
    root = ET.fromstring(render_junit(report).encode("utf-8"))
    return {suite.get("name"): suite for suite in root}


@given(hostile_texts)
@few
def test_the_file_is_valid_xml_whatever_a_model_prints(text):
    base = full_report()
    candidate = base.candidates[0].model_copy(
        update={
            "candidate": text or "x",
            "reasons": (text,),
            "limits": tuple(limit.model_copy(update={"text": text}) for limit in base.candidates[0].limits),
            "verdicts": tuple(v.model_copy(update={"reason": text}) for v in base.candidates[0].verdicts),
        }
    )
    report = full_report(candidates=(candidate,), changed=(changed("nf4", text, "no_answer"),))
    ET.fromstring(render_junit(report).encode("utf-8"))


def test_there_is_one_suite_a_candidate_and_the_counts_add_up(report):
    root = ET.fromstring(render_junit(report).encode("utf-8"))
    assert [suite.get("name") for suite in root] == [c.candidate for c in report.candidates]
    for tag, key in (("testcase", "tests"), ("failure", "failures"), ("error", "errors"), ("skipped", "skipped")):
        assert len(root.findall(f".//{tag}")) == int(root.get(key, "-1"))
        assert sum(int(suite.get(key, "-1")) for suite in root) == int(root.get(key, "-1"))


def test_a_regressed_candidate_fails_at_each_gating_verdict_and_broken_limit(report):
    failed = {case.get("name") for case in suites(report)["nf4"].iter("testcase") if case.find("failure") is not None}
    assert "decision" in failed
    assert "longdoc [suite, critical]" in failed
    assert "longdoc/depth=0.9 [required, critical]" in failed
    assert "limit max_net_loss in longdoc" in failed
    assert "limit min_scored in all" not in failed


def test_exploratory_slices_are_no_test_cases_and_advisory_ones_never_fail(report):
    cases = {case.get("name"): case for case in suites(report)["nf4"].iter("testcase")}
    assert not [name for name in cases if "exploratory" in name]
    assert cases["schema [suite, advisory]"].find("skipped") is not None


def test_an_accepted_candidate_has_neither_failure_nor_error(report):
    accepted = suites(report)["bf16"]
    assert (accepted.get("failures"), accepted.get("errors")) == ("0", "0")


def test_a_candidate_that_is_not_required_cannot_fail_a_build(report):
    optional = suites(report)["int8+kv=int4"]
    assert (optional.get("failures"), optional.get("errors")) == ("0", "0")
    assert int(optional.get("skipped")) > 0


@pytest.mark.parametrize(("report_of", "name"), [(full_report, "endpoint"), (empty_report, "nf4")])
def test_what_was_not_compared_is_an_error(report_of, name):
    [suite] = [suite for key, suite in suites(report_of()).items() if key.startswith(name)]
    assert int(suite.get("errors")) > 0


def test_an_unknown_duration_is_written_as_zero_because_the_format_knows_no_other():
    report = full_report(variants=(variant("nf4", run_s=None),))
    assert suites(report)["nf4"].get("time") == "0"


def test_figures_say_what_would_settle_a_verdict_and_which_doubts_there_are(report):
    [case] = [c for c in suites(report)["nf4"].iter("testcase") if c.get("name") == "toolcalls [suite, critical]"]
    text = case.find("failure").text
    for part in ("could show none", "needs +1,386 cases", "excess churn +6.2 pp", "margin inside the noise"):
        assert part in text
    early = ET.tostring(suites(report)["int8+kv=int4"], encoding="unicode")
    assert 'message="ended early; pool is open' in early
    assert "; ended early<" in early


def test_where_one_was_picked_the_others_cannot_fail_the_build():
    found = suites(picked_report())
    assert {suite.get("failures") for suite in found.values()} == {"0"}
    assert int(found["int4"].get("skipped")) > 0
    none_picked = suites(picked_report().model_copy(update={"picked": None}))
    assert int(none_picked["int4"].get("failures")) > 0
