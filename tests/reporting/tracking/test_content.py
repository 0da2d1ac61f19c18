from __future__ import annotations

import json
import math

import pytest

from qeval.compare.report import SliceKey
from qeval.reporting.tracking.content import finite, tracked, with_baseline
from qeval.reporting.tracking.privacy import case_table, redact_record, redact_report
from qeval.reporting.verdict import load_report, render_verdict
from tests.reporting.fake import full_report, picked_report, variant, verdict
from tests.reporting.fake_fidelity import fidelity, slice_fidelity, statistics
from tests.reporting.tracking.conftest import SECRET, secret_record, secret_report
from tests.reporting.tracking.test_names import faults

WORDS = ("Quentin", "patient")


def everything(content):
    """All texts of a run that would leave, as one."""
    parts = [content.name, *content.params.values(), *content.tags.values(), *content.artifacts.values()]
    return "\n".join(parts)


def runs(folder, privacy):
    content = tracked(load_report(folder), folder, privacy)
    return [content.parent, *content.variants]


def test_with_hashes_no_word_of_a_prompt_or_answer_leaves(run_folder):
    for run in runs(run_folder, "hashes"):
        assert not [word for word in WORDS if word in everything(run)], run.name


def test_with_full_privacy_the_texts_are_there(run_folder):
    parent, baseline, *_ = runs(run_folder, "full")
    assert SECRET in json.loads(parent.artifacts["report/verdict.json"])["changed"][0]["candidate_text"]
    assert "Quentin" in baseline.artifacts["cases.json"]


def test_a_redacted_report_keeps_every_figure():
    report = secret_report()
    redacted = redact_report(report, {})
    assert SECRET not in render_verdict(redacted)

    def figures(verdicts):
        return [v.model_dump(exclude={"slice", "reason"}) for v in verdicts]

    for ours, theirs in zip(redacted.candidates, report.candidates, strict=True):
        assert (ours.candidate, ours.decision) == (theirs.candidate, theirs.decision)
        assert figures(ours.verdicts) == figures(theirs.verdicts)
    assert [(c.case, c.kind, list(c.tags)) for c in redacted.changed] == [
        (c.case, c.kind, list(c.tags)) for c in report.changed
    ]


def test_the_table_of_cases_has_a_row_for_each_outcome_and_as_many_cells_as_columns():
    record = secret_record("nf4")
    hashed, table = (json.loads(case_table(record, redacted)) for redacted in (redact_record(record), None))
    for one in (hashed, table):
        assert len(one["data"]) == len(record.outcomes)
        assert {len(row) for row in one["data"]} == {len(one["columns"])}
    cells = dict(zip(table["columns"], table["data"][2], strict=True))
    assert (cells["status"], cells["pass"]) == ("timeout", None)


def test_a_variants_pass_rates_are_its_own_over_suites_and_required_slices(run_folder):
    nf4 = runs(run_folder, "full")[2]
    assert nf4.metrics["quality/longdoc/all/pass_rate"] == pytest.approx(2 / 3)
    assert nf4.metrics["quality/longdoc/all/n"] == 3
    assert nf4.metrics["quality/longdoc/depth:0.9/pass_rate"] == 0.5
    assert nf4.metrics["quality/all/all/n"] == 4


def test_what_has_no_cases_is_counted_and_named_but_never_a_number(run_folder):
    baseline = runs(run_folder, "full")[1]
    name = "quality/multilingual/lang:ar/pass_rate"
    assert baseline.metrics["quality/multilingual/lang:ar/n"] == 0
    assert name not in baseline.metrics
    assert name in baseline.tags["qeval.undefined_metrics"].split(", ")
    assert all(math.isfinite(value) for run in runs(run_folder, "full") for value in run.metrics.values())


def test_neither_none_nor_nan_nor_infinity_is_a_metric():
    assert finite({"n": 0, "a": None, "b": math.inf, "c": -math.inf, "d": math.nan}) == {"n": 0.0}


def test_differences_stand_under_the_baselines_run(run_folder):
    nf4 = with_baseline(runs(run_folder, "full")[2], "0123456789abcdef")
    assert nf4.metrics["compare/01234567/pass/longdoc/all/diff"] == pytest.approx(-9 / 32)
    assert "BASELINE" not in nf4.artifacts["metric_names.json"]


def test_all_metric_names_are_legal_and_their_originals_kept(tmp_path):
    hostile = ("a/b", "x@y", "100%", "..", "", "日本語", "n" * 300, "a=b&c=d")
    verdicts = tuple(verdict("longdoc", tag="t", value=value, role="required") for value in hostile)
    base = full_report()
    report = full_report(candidates=(base.candidates[0].model_copy(update={"verdicts": verdicts}),))
    nf4 = tracked(report, tmp_path, "full").variants[1]
    assert list(faults(nf4.metrics)) == []
    assert sum(name.endswith("/diff") for name in nf4.metrics) == len(hostile)
    originals = json.loads(nf4.artifacts["metric_names.json"])
    assert set(nf4.metrics) <= set(originals)
    assert any(original.endswith("/t:x@y/diff") for original in originals.values())


def test_metrics_are_few_whatever_the_number_of_exploratory_slices(tmp_path):
    many = tuple(verdict("longdoc", tag="id", value=str(i), role="exploratory") for i in range(500))
    candidate = full_report().candidates[0].model_copy(update={"verdicts": many, "fidelity": None})
    nf4 = tracked(full_report(candidates=(candidate,)), tmp_path, "full").variants[1]
    assert len(nf4.metrics) < 30
    assert len(json.loads(nf4.artifacts["verdicts.json"])) == 500


def test_long_values_become_digests_and_are_kept_whole_in_an_artifact(tmp_path):
    model = "/models/" + "m" * 600
    report = full_report(model=model, policy={"alpha": 0.05, "note": "x" * 7000})
    parent = tracked(report, tmp_path, "full").parent
    assert all(len(value) <= 250 for value in parent.params.values())
    assert parent.params["policy"].startswith("sha256 ")
    whole = json.loads(parent.artifacts["params.json"])
    assert whole["model"] == model
    assert json.loads(parent.artifacts["config.json"])["policy"]["note"] == "x" * 7000


def test_the_key_depends_on_the_results_and_not_on_the_privacy(run_folder):
    one, same = (runs(run_folder, privacy)[0].key for privacy in ("full", "hashes"))
    assert one == same
    other = load_report(run_folder).model_copy(update={"exit_code": 3})
    assert tracked(other, run_folder, "full").parent.key != one


def test_a_variant_without_a_record_is_tracked_without_cases(run_folder):
    bf16 = runs(run_folder, "full")[3]
    assert "cases.json" not in bf16.artifacts
    assert bf16.tags["qeval.decision"] == "accepted"


def test_crosses_of_slices_are_counted_from_the_record(run_folder):
    key = SliceKey(suite="longdoc", tag="depth", value="0.9&kind=a")
    base = full_report()
    crossed = base.candidates[0].model_copy(
        update={"verdicts": (verdict("longdoc").model_copy(update={"slice": key, "role": "required"}),)}
    )
    nf4 = tracked(full_report(candidates=(crossed,), variants=(variant("nf4"),)), run_folder, "full").variants[0]
    [name] = [name for name in nf4.metrics if name.startswith("quality/longdoc/depth") and name.endswith("/n")]
    assert nf4.metrics[name] == 0


def test_noise_and_what_would_settle_it_are_metrics(tmp_path):
    nf4 = tracked(full_report(), tmp_path, "full").variants[1]
    toolcalls = {
        name.rpartition("/")[2]: value for name, value in nf4.metrics.items() if "/pass/toolcalls/all/" in name
    }
    assert toolcalls["baseline_flip_rate"] == 0.074
    assert toolcalls["candidate_flip_rate"] == 0.1406
    assert toolcalls["excess_churn"] == pytest.approx(4 / 32 - 1 / 16)
    assert toolcalls["excess_churn_low"] < toolcalls["excess_churn"] < toolcalls["excess_churn_high"]
    assert toolcalls["cases_needed"] == 1418
    assert "smallest_detectable_pp" not in toolcalls
    assert nf4.metrics["compare/BASELINE/pass/all/all/smallest_detectable_pp"] == pytest.approx(13.8)
    assert "compare/BASELINE/pass/toolcalls/all/smallest_detectable_pp" in nf4.tags["qeval.undefined_metrics"]


def test_the_headline_figures_of_fidelity_are_metrics_of_the_candidate(tmp_path):
    baseline, nf4, bf16, int8, _ = tracked(full_report(), tmp_path, "full").variants
    at = "compare/BASELINE/fidelity"
    assert nf4.metrics[f"{at}/all/all/kld_mean"] == 0.147394
    assert nf4.metrics[f"{at}/longdoc/depth:0.9/same_top_p"] == 0.942
    assert nf4.metrics[f"{at}/all/all/kld_over_noise"] == pytest.approx(61.414, abs=1e-3)
    assert nf4.metrics[f"{at}/refusal/all/n_tokens"] == 0
    assert f"{at}/refusal/all/kld_mean" in nf4.tags["qeval.undefined_metrics"].split(", ")
    assert int8.metrics[f"{at}/all/all/kld_mean_lower_bound"] == 0.107
    assert f"{at}/all/all/kld_mean" not in int8.metrics
    assert not [name for run in (baseline, bf16) for name in run.metrics if "fidelity" in name]


def test_reverse_divergence_is_a_metric_where_it_was_measured(tmp_path):
    seen = statistics(0.1, reverse_kld_mean=0.2, reverse_kld_p99=1.5)
    at = "compare/BASELINE/fidelity/all/all"
    for kind, suffix in (("exact", ""), ("top_k_bound", "_lower_bound")):
        shown = fidelity(slice_fidelity(None, 0.1, statistics=seen), kind=kind)
        nf4 = full_report().candidates[0].model_copy(update={"fidelity": shown})
        metrics = tracked(full_report(candidates=(nf4,)), tmp_path, "full").variants[1].metrics
        found = {name: value for name, value in metrics.items() if "reverse" in name}
        assert found == {f"{at}/reverse_kld_mean{suffix}": 0.2, f"{at}/reverse_kld_p99{suffix}": 1.5}
    assert not [
        name for run in tracked(full_report(), tmp_path, "full").variants for name in run.metrics if "rev" in name
    ]


def test_a_settled_slice_needs_no_cases_and_that_is_not_undefined(tmp_path):
    bf16 = tracked(full_report(), tmp_path, "full").variants[2]
    assert not [name for name in bf16.metrics if name.endswith("cases_needed")]
    assert "cases_needed" not in bf16.tags.get("qeval.undefined_metrics", "")


def test_an_early_end_and_a_pick_are_tags(tmp_path):
    run = tracked(full_report(), tmp_path, "full")
    assert [v.tags.get("qeval.ended_early") for v in run.variants[:4]] == [None, "no", "no", "yes"]
    assert "qeval.picked" not in run.parent.tags
    picked = tracked(picked_report(), tmp_path, "full")
    assert picked.parent.tags["qeval.picked"] == "nf4"
    assert {v.name: v.tags.get("qeval.picked") for v in picked.variants[:3]} == {
        "fp32": None,
        "nf4": "yes",
        "bf16": "no",
    }


def test_the_same_records_compared_later_are_the_same_result(run_folder):
    report = load_report(run_folder)
    later = report.model_copy(update={"created_at": "2031-01-01T00:00:00+00:00"})
    other = report.model_copy(update={"model": "another"})
    keys = [tracked(one, run_folder, "full").parent.key for one in (report, later, other)]
    assert keys[0] == keys[1] != keys[2]
