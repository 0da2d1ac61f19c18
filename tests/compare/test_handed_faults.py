"""Faults that other tools shipped: each must end here in the decision its users asked for."""

import json
from pathlib import Path
from typing import ClassVar

import pytest

from qeval.compare.build import build_report
from qeval.compare.mcnemar import two_sided_exact
from qeval.compare.policy import Policy
from qeval.compare.report import Report
from qeval.errors import UsageError
from qeval.grading import Question, grade_outcome
from qeval.outcome import Grade
from qeval.record import folder_name
from tests.compare.quant_flips import needs_data, read_record
from tests.factories import make_outcome, make_record

HALF = [i % 2 == 0 for i in range(200)]


def report(baseline, candidate, **policy):
    return build_report(baseline, [candidate], Policy(**policy), created_at="t")


def label(found, name):
    return next(v for v in found.candidates[0].verdicts if v.slice.label == name and v.metric == "pass")


class TestC27ContextLimits:
    """Each arm may leave out cases that do not fit its context; only what both answered is compared."""

    TAGS: ClassVar = {"s": [{"length": "long" if i % 4 == 0 else "short"} for i in range(200)]}

    def without(self, variant, left_out):
        rows = [None if i in left_out else right for i, right in enumerate(HALF)]
        outcomes = [
            make_outcome("s", f"c{i:04}", right, **({"status": "over_context"} if right is None else {}))
            for i, right in enumerate(rows)
        ]
        return make_record(variant, {"s": HALF}, tags=self.TAGS, outcomes=outcomes)

    @pytest.mark.parametrize(
        ("fp16", "gguf", "n", "lost", "baseline_lost"),
        [
            (set(), {0, 4, 8}, 197, 3, 0),
            ({0, 12}, {0, 4, 8}, 196, 2, 1),
            ({0, 4}, set(), 198, 0, 2),
            (set(range(0, 200, 4)), set(range(0, 200, 4)), 150, 0, 0),
            (set(), set(range(200)), 0, 200, 0),
        ],
    )
    def test_only_what_both_could_run_is_compared_and_the_rest_is_counted(self, fp16, gguf, n, lost, baseline_lost):
        found = report(self.without("fp16", fp16), self.without("gguf", gguf))
        verdict = label(found, "s")
        assert (verdict.n, verdict.planned) == (n, 200)
        assert verdict.unanswered == ({"over_context": lost} if lost else {})
        assert verdict.baseline_unanswered == ({"over_context": baseline_lost} if baseline_lost else {})

    def test_what_does_not_fit_is_counted_in_its_slice(self):
        found = report(self.without("fp16", set()), self.without("gguf", {0, 4, 8}))
        assert label(found, "s/length=long").unanswered == {"over_context": 3}
        assert label(found, "s/length=short").unanswered == {}


class TestC54ExitCodes:
    def test_a_violated_threshold_is_1(self):
        worse = [right and i >= 60 for i, right in enumerate(HALF)]
        assert report(make_record("a", {"s": HALF}), make_record("b", {"s": worse})).exit_code == 1

    def test_bad_usage_is_2(self):
        with pytest.raises(UsageError) as caught:
            build_report(make_record("a", {"s": HALF}), [], Policy(), created_at="t")
        assert caught.value.exit_code == 2

    def test_unanswered_items_are_5(self):
        rows = [None if i < 20 else right for i, right in enumerate(HALF)]
        assert report(make_record("a", {"s": HALF}), make_record("b", {"s": rows})).exit_code == 5


class TestC55NothingScored:
    def test_every_call_refused_is_incomplete_with_its_count(self):
        failed = [make_outcome("s", f"c{i:04}", None, status="endpoint_error", detail="401") for i in range(200)]
        found = report(make_record("a", {"s": HALF}), make_record("b", {"s": HALF}, outcomes=failed))
        assert found.exit_code == 5
        assert "0 of 200 cases scored" in " ".join(found.candidates[0].reasons)
        assert label(found, "s").unanswered == {"endpoint_error": 200}

    def test_no_item_at_all_is_not_accepted(self):
        assert report(make_record("a", {"s": []}), make_record("b", {"s": []})).exit_code == 5

    def test_an_error_text_is_not_scored_as_not_containing(self):
        failed = make_outcome("s", "c0000", None, status="endpoint_error", grades=())
        graded = grade_outcome(failed, [{"kind": "not_contains", "any": ["x"]}], Question())
        assert (graded.passed(), graded.grades[0].status) == (None, "ungraded")

    def test_nine_tenths_scored_fail_a_gate_at_95_percent(self):
        rows = [None if i < 20 else True for i in range(200)]
        found = report(make_record("a", {"s": [True] * 200}), make_record("b", {"s": rows}))
        assert found.decision == "incomplete"
        assert "180 of 200 cases scored in both, needed 190 (min_scored 0.95)" in found.candidates[0].reasons[0]


class TestC57SlicesThatNeverRan:
    FIVE = dict.fromkeys("abcde", HALF)

    def test_three_of_five_suites_leave_the_other_two_unknown(self):
        found = report(make_record("x", self.FIVE), make_record("y", dict.fromkeys("abc", HALF)))
        for name in "de":
            row = label(found, name)
            assert (row.n, row.baseline_rate, row.candidate_rate, row.difference) == (0, None, None, None)
            assert "no_data" in row.flags
        assert (label(found, "all").n, found.exit_code) == (600, 5)
        assert any("partial: the pool leaves out d, e" in note for note in found.candidates[0].notes)

    def test_a_gate_on_a_slice_without_items_fails_with_no_data(self):
        found = report(make_record("x", self.FIVE), make_record("y", self.FIVE), required=("lang=ar",))
        assert found.exit_code == 5
        assert "all/lang=ar: no data" in found.candidates[0].reasons[0]

    def test_a_slice_that_the_candidate_lacks_is_shown_as_missing(self):
        tags = {"s": [{"lang": "ar" if i < 40 else "de"} for i in range(200)]}
        base, cand = make_record("x", {"s": HALF}, tags=tags), make_record("y", {"s": HALF}, tags=tags)
        cand = cand._replace(cases=cand.cases[40:], outcomes=cand.outcomes[40:])
        found = report(base, cand)
        assert (label(found, "s/lang=ar").n, label(found, "s/lang=ar").unanswered) == (0, {"missing": 40})
        assert (found.exit_code, found.candidates[0].unpaired[0], len(found.candidates[0].unpaired)) == (
            5,
            "s/c0000",
            40,
        )


class TestC58Thresholds:
    def test_a_score_that_is_no_number_cannot_be_stored(self):
        with pytest.raises(ValueError, match="finite number"):
            Grade(metric="f1", status="pass", score=float("nan"))

    def test_exactly_at_the_limit_holds_and_the_interval_still_decides(self):
        base, cand = (
            make_record("x", {"s": [i < 80 for i in range(100)]}),
            make_record("y", {"s": [i < 78 for i in range(100)]}),
        )
        found = report(base, cand, limits={"max_net_loss": 0.02})
        limit = found.candidates[0].limits[0]
        assert (limit.broken, limit.text) == (False, "net loss 2 of 100 cases, allowed 2 (max_net_loss 0.02)")
        assert found.decision == "inconclusive"


class TestC59Pairing:
    def test_five_hundred_items_are_tested_in_pairs(self):
        base = {"s": [i < 400 for i in range(500)]}
        cand = {"s": [18 <= i < 406 for i in range(500)]}
        row = label(report(make_record("x", base), make_record("y", cand)), "s")
        assert (row.baseline_passed, row.candidate_passed, row.losses, row.gains) == (400, 388, 18, 6)
        assert round(two_sided_exact(row.losses, row.gains), 4) == 0.0227
        assert row.p_harm < 0.05

    def test_no_flips_are_no_division_by_zero(self):
        row = label(report(make_record("x", {"s": HALF}), make_record("y", {"s": HALF})), "s")
        assert (two_sided_exact(row.losses, row.gains), row.p_harm) == (1.0, 0.5)
        assert two_sided_exact(6, 0) == 0.03125

    @needs_data
    def test_answers_that_change_under_an_equal_score_are_seen(self):
        found = build_report(read_record("fp16"), [read_record("int8")], Policy(), created_at="t")
        row = label(found, "mmlu")
        assert round(row.difference, 3) == 0.002
        assert row.losses + row.gains + row.changed_wrong == 57
        changed = [case.kind for case in found.changed if case.suite == "mmlu"]
        assert (changed.count("right_to_wrong"), changed.count("wrong_to_right")) == (20, 22)
        assert changed.count("wrong_to_other_wrong") == 15


class TestC60Ids:
    def test_an_id_that_stands_twice_is_refused(self):
        record = make_record("x", {"s": [True, False]})
        twice = record._replace(cases=(*record.cases, record.cases[0]))
        with pytest.raises(UsageError, match="case 'c0000' of s stands 2 times"):
            report(record, twice)
        again = record._replace(outcomes=(*record.outcomes, record.outcomes[1]))
        with pytest.raises(UsageError, match="case 'c0001' of s, repeat 0, stands 2 times"):
            report(again, record)

    @pytest.mark.parametrize("odd", ["../../x", "a/b", "x" * 300, "ü|,\"'<&>"])
    def test_any_id_is_paired_and_reported(self, odd):
        def record(name, right):
            made = make_record(name, {"s": [True]})
            case = made.cases[0].model_copy(update={"case": odd})
            return made._replace(cases=(case,), outcomes=(make_outcome("s", odd, right),))

        found = report(record("x", True), record("y", False))
        assert found.changed[0].case == odd
        assert Report.model_validate(json.loads(json.dumps(found.model_dump(mode="json"), allow_nan=False))) == found
        assert Path(folder_name(odd)).name == folder_name(odd)
