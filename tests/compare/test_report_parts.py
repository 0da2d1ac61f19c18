"""The parts of a report that people read: changed cases, headlines of variants, warnings, sentences."""

import pytest

from qeval.chat import ToolCall
from qeval.compare.build import build_report
from qeval.compare.policy import Policy
from qeval.outcome import Grade
from qeval.record import Measurements
from tests.factories import make_outcome, make_proof, make_record

SIX = {"s": [True, False, False, True, True, True]}


@pytest.fixture
def report():
    outcomes = [
        make_outcome("s", "c0000", False, text="Bern"),
        make_outcome("s", "c0001", True),
        make_outcome("s", "c0002", False, text="other"),
        make_outcome("s", "c0003", True, text="right, in other words"),
        make_outcome("s", "c0004", None, status="out_of_memory", detail="at token 512"),
        make_outcome("s", "c0005", True),
    ]
    tags = {"s": [{"lang": "de"}] * 6}
    candidate = make_record("nf4", SIX, tags=tags, outcomes=outcomes, proof=make_proof())
    return build_report(
        make_record("fp32", SIX, tags=tags, repeats={"s": [False]}), [candidate], Policy(), created_at="t"
    )


def test_each_kind_of_change_is_listed_with_both_texts(report):
    assert [(case.case, case.kind) for case in report.changed] == [
        ("c0000", "right_to_wrong"),
        ("c0001", "wrong_to_right"),
        ("c0002", "wrong_to_other_wrong"),
        ("c0003", "text_changed"),
        ("c0004", "no_answer"),
    ]
    first, last = report.changed[0], report.changed[-1]
    assert (first.candidate, first.tags, first.baseline_text, first.candidate_text) == (
        "nf4",
        {"lang": "de"},
        "right",
        "Bern",
    )
    assert (first.question, first.expected) == ("question 0", "right")
    assert (first.baseline_fault, first.candidate_fault) == ("", "contains: wrong_value: not in the text")
    assert (last.candidate_text, last.candidate_fault) == ("", "out_of_memory: at token 512")


def test_a_case_that_also_flips_against_itself_is_marked_unstable(report):
    assert [case.unstable for case in report.changed] == [True, False, False, False, False]


def test_tool_calls_are_part_of_the_text():
    def record(name, city):
        call = (ToolCall(name="weather", arguments={"city": city}),)
        return make_record(name, {"s": [True]}, outcomes=[make_outcome("s", "c0000", True, text="", tool_calls=call)])

    (case,) = build_report(record("a", "Bern"), [record("b", "Rome")], Policy(), created_at="t").changed
    assert case.kind == "text_changed"
    assert "weather" in case.candidate_text
    assert "Rome" in case.candidate_text


@pytest.mark.parametrize(
    ("before", "after", "shown"),
    [
        ({"text": "<think>9?</think>8<file_sep>"}, {"text": "<think>8?</think>9"}, ("8", "9")),
        ({"text": "8"}, {"text": "8<file_sep>"}, ("8", "8<file_sep>")),
        ({"text": "<think>a</think>8"}, {"text": "<think>b</think>8"}, ("<think>a</think>8", "<think>b</think>8")),
        (
            {"text": "8"},
            {"text": "Hm, 8", "opened": "<think>", "thought": "Hm, 8"},
            ("8", "(thought, no answer) Hm, 8"),
        ),
    ],
    ids=["without thoughts and special tokens", "a special token is all", "a thought is all", "no answer"],
)
def test_people_see_what_differs(before, after, shown):
    outcomes = [[make_outcome("s", "c0000", True, special=("<file_sep>",), **arm)] for arm in (before, after)]
    baseline, candidate = (make_record(str(n), {"s": [True]}, outcomes=arm) for n, arm in enumerate(outcomes))
    (case,) = build_report(baseline, [candidate], Policy(), created_at="t").changed
    assert (case.baseline_text, case.candidate_text) == shown


def test_a_variant_is_summed_up_by_itself():
    record = make_record(
        "nf4", {"s": [True, False, None], "t": [True]}, measurements=Measurements(peak_memory_bytes=5, load_s=1.5)
    )
    baseline, candidate = build_report(
        make_record("fp32", {"s": [True] * 3, "t": [True]}), [record], Policy(), created_at="t"
    ).variants
    assert (baseline.variant, candidate.variant) == ("fp32", "nf4")
    assert candidate.suite_passed == {"s": (1, 2), "t": (1, 1)}
    assert (candidate.n_cases, candidate.n_answered, candidate.peak_memory_bytes, candidate.load_s) == (4, 3, 5, 1.5)
    assert candidate.proof is None


def test_variants_that_ran_nothing_twice_are_warned_about(report):
    assert report.warnings == ("no case ran twice in nf4: how often a variant differs from itself is not known",)


def test_nan_logits_of_the_baseline_are_warned_about():
    base = make_record("fp32", {"s": [True, None]})
    broken = base.outcomes[1].model_copy(update={"status": "numeric_error"})
    made = build_report(base._replace(outcomes=(base.outcomes[0], broken)), [base], Policy(), created_at="t")
    assert made.warnings[0] == "NaN or infinite logits in 1 cases of the baseline"


@pytest.mark.parametrize(
    ("lost", "gained", "said"),
    [
        (0, 0, "a loss beyond 2.0 pp is excluded: difference +0.0 pp, interval -1.3 pp to +1.3 pp"),
        (0, 20, "and a gain is proven (adjusted p <0.0001): difference +10.0 pp"),
        (20, 0, "a loss is proven (adjusted p <0.0001), and one beyond 2.0 pp is not excluded: difference -10.0 pp"),
        (
            3,
            3,
            "nor is a loss proven: difference +0.0 pp, interval -2.4 pp to +2.4 pp; needs about 1546 cases, has 200",
        ),
    ],
)
def test_a_verdict_says_in_a_sentence_what_it_rests_on(lost, gained, said):
    before = [i < 100 for i in range(200)]
    after = [lost <= i < 100 + gained for i in range(200)]
    made = build_report(make_record("a", {"s": before}), [make_record("b", {"s": after})], Policy(), created_at="t")
    assert said in made.candidates[0].verdicts[0].reason


@pytest.mark.parametrize(
    ("flips", "needed", "said"),
    [(10, 1546, "needs about 1546 cases, has 200"), (40, 3092, "needs about 3092 cases, has 200")],
)
def test_a_pool_that_flips_more_than_planned_needs_more_cases(flips, needed, said):
    before = [i < 100 for i in range(200)]
    after = [flips // 2 <= i < 100 + flips // 2 for i in range(200)]
    made = build_report(make_record("a", {"s": before}), [make_record("b", {"s": after})], Policy(), created_at="t")
    pool = made.candidates[0].verdicts[0]
    assert pool.cases_needed == needed
    assert said in pool.reason


def test_a_loss_near_the_margin_is_not_blamed_on_the_number_of_cases():
    before = [i < 1000 for i in range(1600)]
    after = [66 <= i < 1050 for i in range(1600)]
    made = build_report(make_record("a", {"s": before}), [make_record("b", {"s": after})], Policy(), created_at="t")
    pool = made.candidates[0].verdicts[0]
    assert (pool.losses, pool.gains, pool.ruling, pool.cases_needed) == (66, 50, "inconclusive", None)
    assert "a true loss may lie near the margin" in pool.reason


def test_a_proven_gain_within_the_margin_is_equivalent():
    before, after = [i < 2000 for i in range(3000)], [i < 2012 for i in range(3000)]
    made = build_report(make_record("a", {"s": before}), [make_record("b", {"s": after})], Policy(), created_at="t")
    pool = made.candidates[0].verdicts[0]
    assert pool.p_gain_adjusted is not None
    assert pool.p_gain_adjusted < 0.001
    assert pool.ruling == "equivalent"


def test_a_small_real_loss_and_a_two_sided_pass_are_flagged():
    def pool(lost):
        before, after = [True] * 3000, [i >= lost for i in range(3000)]
        made = build_report(make_record("a", {"s": before}), [make_record("b", {"s": after})], Policy(), created_at="t")
        return made.candidates[0].verdicts[0]

    loss, none = pool(12), pool(0)
    assert (loss.ruling, loss.flags) == ("equivalent", ("two_sided", "small_real_loss"))
    assert (none.ruling, none.flags) == ("equivalent", ("two_sided",))


def test_the_reports_are_equal_for_equal_inputs(report):
    assert report.model_copy() == report
    assert report.policy == Policy().model_dump(mode="json")
    assert report.policy_digest == Policy().digest


def test_another_metric_that_was_not_graded_in_one_arm_is_counted():
    valid, slow = (
        Grade(metric="valid", status="pass"),
        Grade(metric="valid", status="ungraded", fault="grading_timeout"),
    )
    base = make_record("a", {"s": [True]}, outcomes=[make_outcome("s", "c0000", True, grades=(valid,))])
    cand = make_record("b", {"s": [True]}, outcomes=[make_outcome("s", "c0000", True, grades=(slow,))])
    made = build_report(base, [cand], Policy(), created_at="t").candidates[0]
    assert [verdict.metric for verdict in made.verdicts] == ["pass", "pass"]
    assert made.verdicts[0].unanswered == {"grading_timeout": 1}


def test_how_a_variant_computes_here_is_said_among_the_warnings():
    plain, noted = make_record("fp32", {"s": [True]}), make_record("bf16", {"s": [True]})
    noted = noted._replace(header=noted.header.model_copy(update={"notes": ("products are rounded to bf16",)}))
    report = build_report(plain, [noted], Policy(), created_at="now")
    assert "bf16: products are rounded to bf16" in report.warnings
