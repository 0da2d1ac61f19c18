"""The noise floor: what repeats say, what they change in the analysis, and what they refuse."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qeval.compare.build import build_report
from qeval.compare.churn import Rate, clustered_rate, disagreement, excess_churn
from qeval.compare.noise import OwnChanges, own_changes, self_faults, slice_noise
from qeval.compare.pairs import pair_records, score
from qeval.compare.policy import Policy
from qeval.compare.power import smallest_margin
from qeval.outcome import Grade
from tests.factories import make_outcome, make_record

RIGHT = [True] * 300


def noise(baseline, candidate, metric="pass"):
    scored = score(pair_records(baseline, candidate).pairs, metric)
    return slice_noise(scored, OwnChanges(own_changes(baseline, metric), own_changes(candidate, metric)), 0.05)


def row(baseline, candidate, label="all", **policy):
    report = build_report(baseline, [candidate], Policy(**policy), created_at="t")
    return next(v for v in report.candidates[0].verdicts if v.slice.label == label)


def test_flips_against_itself_count_each_case_once():
    record = make_record("fp32", {"s": [True, True, False]}, repeats=[{"s": [False, True, False]}] * 2)
    found = noise(record, make_record("nf4", {"s": [True, True, False]}))
    assert found.baseline is not None
    assert (found.baseline.n, found.baseline.flips, found.baseline.changed_texts, found.baseline.runs) == (3, 1, 1, 3)
    # One case passed once in three runs: two of its three pairs of runs disagree.
    assert found.baseline.rate == pytest.approx(2 / 3 / 3)
    assert found.candidate is None
    assert found.excess is None


def test_a_repeat_without_a_grade_is_not_counted():
    record = make_record("fp32", {"s": [True, None]}, repeats={"s": [None, True]})
    assert own_changes(record, "pass") == {}


def test_flips_are_within_the_noise_only_where_both_variants_ran_twice():
    once = make_record("nf4", {"s": [False] + [True] * 9})
    baseline = make_record("fp32", {"s": [True] * 10}, repeats={"s": [False] + [True] * 9})
    candidate = make_record("nf4", {"s": [True] * 10}, repeats={"s": [False] + [True] * 9})
    assert noise(baseline, candidate).explains
    assert not noise(baseline, once).explains
    worse = make_record("nf4", {"s": [True] + [False] * 9}, repeats={"s": [False] * 10})
    assert not noise(baseline, worse).explains
    still = make_record("fp32", {"s": [True] * 10}, repeats={"s": [True] * 10})
    assert not noise(still, still).explains


def test_the_mean_of_a_case_counts_and_both_strata_are_shown():
    again = [i >= 2 for i in range(300)]
    baseline = make_record("fp32", {"s": RIGHT}, repeats={"s": RIGHT})
    candidate = make_record("bf16", {"s": [i != 5 for i in range(300)]}, repeats={"s": again})
    found = row(baseline, candidate, "s")
    # Cases 0 and 1 passed once of twice, case 5 too: each is half a loss.
    assert (found.losses, found.gains, found.difference) == (3, 0, -1.5 / 300)
    assert found.candidate_passed == 298.5
    assert (found.unstable.n, found.unstable.losses, found.stable.n, found.stable.losses) == (3, 3, 297, 0)
    assert found.effective_n == 300


def test_excess_churn_is_what_is_left_of_the_flips():
    flipped = [i >= 30 for i in range(300)]
    noisy = [i >= 6 for i in range(300)]
    baseline = make_record("fp32", {"s": RIGHT}, repeats={"s": RIGHT})
    candidate = make_record("nf4", {"s": flipped}, repeats={"s": [a == b for a, b in zip(flipped, noisy, strict=True)]})
    found = row(baseline, candidate, "s")
    # 24 cases lost in both runs, 6 in one of two: 27 of 300, less half of 6 of 300.
    assert found.excess_churn.estimate == pytest.approx(27 / 300 - 6 / 300 / 2)
    assert 0 < found.excess_churn.low < found.excess_churn.estimate < found.excess_churn.high


def test_a_margin_inside_the_noise_is_refused_with_what_would_resolve_it():
    noisy = [i % 5 != 0 for i in range(300)]
    baseline = make_record("bf16", {"s": RIGHT}, repeats={"s": noisy[:60]})
    found = row(baseline, make_record("int8", {"s": RIGHT}, repeats={"s": RIGHT[:60]}))
    assert smallest_margin(12 / 60, 300) > 0.02
    assert "margin_in_noise" in found.flags
    assert found.ruling == "inconclusive"
    assert "flips 20.0 % of the cases against itself" in found.reason
    assert "--head fp32" in found.reason
    # 60 of 300 cases count with the mean of two runs, in both variants: nine tenths of the noise are left.
    assert found.cases_needed == pytest.approx(0.9 * 0.2 * (2.4865 / 0.02) ** 2, rel=0.01)


def test_too_few_repeats_refuse_nothing():
    baseline = make_record("bf16", {"s": RIGHT}, repeats={"s": [False, *RIGHT[:28]]})
    found = row(baseline, make_record("int8", {"s": RIGHT}))
    assert "margin_in_noise" not in found.flags
    assert found.ruling == "equivalent"


def test_noise_hides_no_proven_loss():
    noisy = [i % 5 != 0 for i in range(300)]
    baseline = make_record("bf16", {"s": RIGHT}, repeats={"s": noisy[:60]})
    candidate = make_record("int2", {"s": [i >= 90 for i in range(300)]}, repeats={"s": [i >= 90 for i in range(60)]})
    assert row(baseline, candidate).ruling == "regressed"


def test_each_of_many_repeats_is_held_to_its_share_of_the_limit():
    worse = [i >= 7 for i in range(300)]
    twice = make_record("fp32", {"s": RIGHT}, repeats=[{"s": worse}])
    often = make_record("fp32", {"s": RIGHT}, repeats=[{"s": worse}] + [{"s": RIGHT}] * 3)
    candidate = make_record("nf4", {"s": RIGHT})
    # 7 to 0: mid-p .0039, under .01 and above .01 / 4.
    assert build_report(twice, [candidate], Policy(), created_at="t").exit_code == 4
    assert build_report(often, [candidate], Policy(), created_at="t").exit_code != 4


def test_samples_are_not_tested_against_each_other():
    worse = [i >= 40 for i in range(300)]
    sampled = {"do_sample": True, "temperature": 0.7}
    baseline = make_record("fp32", {"s": RIGHT}, repeats={"s": worse}, decoding=sampled)
    report = build_report(baseline, [make_record("nf4", {"s": RIGHT}, decoding=sampled)], Policy(), created_at="t")
    assert report.exit_code != 4


@given(st.integers(2, 8).flatmap(lambda runs: st.tuples(st.integers(0, runs), st.just(runs))))
def test_disagreement_is_the_share_of_pairs_that_differ(passed_runs):
    passed, runs = passed_runs
    outcomes = [i < passed for i in range(runs)]
    pairs = [(a, b) for i, a in enumerate(outcomes) for b in outcomes[i + 1 :]]
    assert disagreement(passed, runs) == pytest.approx(sum(a != b for a, b in pairs) / len(pairs))


def test_questions_on_one_document_count_once_where_they_agree():
    together = clustered_rate([1.0] * 5 + [0.0] * 45, [i // 5 for i in range(50)])
    assert together.value == 0.1
    assert together.n == pytest.approx(10)
    assert clustered_rate([1.0] * 5 + [0.0] * 45, range(50)).n == 50
    assert clustered_rate([0.0] * 50, [0] * 50) == Rate(0.0, 50)


def test_the_interval_of_excess_churn_covers():
    generator = np.random.default_rng(1)
    n, again, covered = 300, 60, 0
    # Unstable cases pass half the time, in both variants; the change flips 5 % of the stable ones.
    unstable, changed = 0.10, 0.05
    truth = (1 - unstable) * changed
    for _ in range(400):
        shaky = generator.random(n) < unstable
        moved = ~shaky & (generator.random(n) < changed)
        runs = [np.where(shaky, generator.random(n) < 0.5, arm) for arm in (False, False, moved, moved)]
        psi = Rate(float(np.mean(runs[0] != runs[2])), n)
        ours, theirs = (Rate(float(np.mean((runs[i] != runs[i + 1])[:again])), again) for i in (0, 2))
        found = excess_churn(psi, ours, theirs, 0.05)
        covered += found.low <= truth <= found.high
    assert covered / 400 >= 0.87


def test_a_document_that_fails_whole_in_a_repeat_is_one_failure():
    clusters = {"s": [f"d{i // 10}" for i in range(200)]}
    rows = [True] * 200
    repeat = {"s": [i >= 10 for i in range(200)]}
    alone = make_record("fp32", {"s": rows}, repeats=repeat)
    together = make_record("fp32", {"s": rows}, repeats=repeat, clusters=clusters)
    assert self_faults(alone)
    assert not self_faults(together)


def test_a_suite_that_repeats_more_does_not_count_for_more():
    # Suite a: 1,000 calm cases, 30 run again; b: 160 noisy ones, 30 run again, 12 of which flip.
    rows = {"a": [True] * 1000, "b": [True] * 160}
    again = {"a": [True] * 30, "b": [i >= 12 for i in range(30)]}
    baseline = make_record("bf16", rows, repeats=again)
    pool = row(baseline, make_record("int8", rows, repeats={"a": [True] * 30, "b": [True] * 30}))
    assert pool.baseline_self.rate == pytest.approx(12 / 30 * 160 / 1160)
    assert pool.baseline_self.flips == 12


def test_weights_leave_a_rate_fewer_independent_cases():
    even, uneven = (clustered_rate([1.0, 0.0] * 20, range(40), weights) for weights in (None, [1.0, 9.0] * 20))
    assert (even.value, even.n) == (0.5, 40)
    assert uneven.value == pytest.approx(0.1)
    assert uneven.n < 40


def test_scores_have_no_excess_churn():
    def record(name):
        half = (Grade(metric="contains", status="fail", score=0.5),)
        outcomes = [
            make_outcome("s", f"c{i:04}", False, repeat=repeat, grades=half) for repeat in (0, 1) for i in range(60)
        ]
        return make_record(name, {"s": [False] * 60}, outcomes=outcomes)

    report = build_report(record("fp32"), [record("nf4")], Policy(), created_at="t")
    rows = {v.metric: v for v in report.candidates[0].verdicts if v.slice.label == "s"}
    scores, passes = rows["contains score"].model_dump(), rows["contains"].model_dump()
    assert scores["excess_churn"] is None
    assert scores["baseline_self"]["rate"] == 0
    assert passes["excess_churn"]["estimate"] == 0
