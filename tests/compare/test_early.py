"""Ending early: what ends a run, what a report then says, and that the levels are split."""

import pytest

from qeval.compare.build import build_report
from qeval.compare.early import ends
from qeval.compare.policy import Policy
from qeval.record import Stopping
from tests.factories import FIDELITY, make_record, make_scored

N = 400
RIGHT = [i % 4 != 0 for i in range(N)]


def baseline(**more):
    return make_record("fp32", {"a": RIGHT, "b": RIGHT}, **more)


def candidate(lost, *, answered=N, on=("harm", "acceptance"), ended=None, **more):
    """A candidate that loses the first `lost` right cases of suite a, and has answered so many of each suite."""
    right = [i for i, passed in enumerate(RIGHT) if passed][:lost]
    worse = [passed and i not in right for i, passed in enumerate(RIGHT)]
    record = make_record("nf4", {"a": worse, "b": RIGHT}, stopping=Stopping(on=on, ended=ended), **more)
    kept = tuple(outcome for outcome in record.outcomes if int(outcome.case[1:]) < answered)
    return record._replace(outcomes=kept)


def test_obvious_harm_ends_a_run_and_the_report_says_regressed():
    assert ends(baseline(), candidate(20, answered=40), Policy(), 1) == "harm"
    report = build_report(baseline(), [candidate(20, answered=40, ended="harm")], Policy(), created_at="t")
    result = report.candidates[0]
    assert (report.decision, report.exit_code) == ("regressed", 1)
    assert "ended early by proven harm after 80 of 800 cases" in result.notes
    assert any("hard limits were not checked" in note for note in result.notes)
    rows = {v.slice.label: v for v in result.verdicts if v.metric == "pass"}
    assert (rows["a"].n, rows["a"].ruling, rows["b"].ruling) == (40, "regressed", "inconclusive")
    assert "ended early" in rows["b"].reason
    # 20 : 0 gives (2^21 - 1) / 21 = 99,864; three tests in the family.
    assert rows["a"].p_harm == pytest.approx(21 / (2**21 - 1), rel=1e-6)
    assert rows["a"].p_harm_adjusted == pytest.approx(3 * 21 / (2**21 - 1), rel=1e-6)


def test_records_that_cannot_be_compared_do_not_end_a_run():
    # What is wrong with the comparison has to be seen, and more of it costs less than a wrong end.
    otherwise = baseline().header.decoding | {"max_new_tokens": 7}
    # Run again, the baseline passes far less: nothing it says can be believed.
    unlike_itself = baseline(repeats={"b": [False] * 40})
    assert ends(baseline(), candidate(20, answered=40), Policy(), 1) == "harm"
    assert ends(baseline(), candidate(20, answered=40, decoding=otherwise), Policy(), 1) is None
    assert ends(unlike_itself, candidate(20, answered=40), Policy(), 1) is None


def test_a_little_harm_does_not_end_it():
    # 7 : 0 has an e-value of 31.9, under 3 / (0.2 * 0.05).
    assert ends(baseline(), candidate(7, answered=40), Policy(), 1) is None


def test_harm_within_the_margin_does_not_end_it():
    # 12 of 2,000 are proven, and exclude a loss beyond the margin of the pool.
    long = [True] * 2000
    little = [i >= 12 for i in range(2000)]
    ours = make_record("fp32", {"a": long})
    theirs = make_record("nf4", {"a": little}, stopping=Stopping(on=("harm",)))
    assert ends(ours, theirs, Policy(), 1) is None


def test_nothing_wrong_ends_it_only_where_acceptance_may():
    many = [True] * 900
    ours = make_record("fp32", {"a": many})
    theirs = make_record("int8", {"a": many})
    theirs = theirs._replace(outcomes=theirs.outcomes[:600])
    for on, reason in ((("harm", "acceptance"), "acceptance"), (("harm",), None)):
        header = theirs.header.model_copy(update={"stopping": Stopping(on=on)})
        assert ends(ours, theirs._replace(header=header), Policy(), 1) == reason
    ended = theirs.header.model_copy(update={"stopping": Stopping(on=("harm", "acceptance"), ended="acceptance")})
    report = build_report(ours, [theirs._replace(header=ended)], Policy(), created_at="t")
    assert report.decision == "accepted"
    assert report.candidates[0].verdicts[0].n == 600


def test_without_early_stopping_nothing_ends_it():
    record = candidate(20, answered=40)
    assert (
        ends(baseline(), record._replace(header=record.header.model_copy(update={"stopping": None})), Policy(), 1)
        is None
    )


def test_records_that_cannot_be_compared_end_nothing():
    other = candidate(20, answered=40, decoding={"do_sample": True})
    assert ends(baseline(), other, Policy(), 1) is None


def test_a_run_that_could_have_ended_pays_at_the_end():
    # 5 : 0 alone has mid-p 1/64, with three tests .047: under .05 and over .04.
    for stopping, ruling in ((None, "regressed"), (Stopping(on=("harm",)), "inconclusive")):
        record = candidate(5)
        report = build_report(
            baseline(),
            [record._replace(header=record.header.model_copy(update={"stopping": stopping}))],
            Policy(margins={"suites": {"a": 0.005}}),
            created_at="t",
        )
        row = next(v for v in report.candidates[0].verdicts if v.slice.label == "a")
        assert row.ruling == ruling


def test_an_unfinished_run_that_was_not_ended_is_incomplete():
    report = build_report(baseline(), [candidate(20, answered=40)], Policy(), created_at="t")
    assert report.exit_code == 5


def test_roles_and_margins_are_those_of_all_planned_cases():
    # Twelve suites of 40, each with 14 reached: each gates, though 14 alone would not.
    rows = {f"s{i:02}": [True] * 40 for i in range(12)}
    lost = {**rows, "s03": [False] * 40}
    policy = Policy(margins={"pool": 0.2})
    theirs = make_record("nf4", lost, stopping=Stopping(on=("harm", "acceptance")))
    theirs = theirs._replace(outcomes=tuple(o for o in theirs.outcomes if int(o.case[1:]) < 14))
    assert ends(make_record("fp32", rows), theirs, policy, 1) != "acceptance"
    ended = theirs.header.model_copy(update={"stopping": Stopping(on=("harm",), ended="harm")})
    report = build_report(make_record("fp32", rows), [theirs._replace(header=ended)], policy, created_at="t")
    suite = next(v for v in report.candidates[0].verdicts if v.slice.label == "s03")
    assert (suite.n, suite.level, "too_few" in suite.flags) == (14, "critical", False)
    assert suite.margin == policy.margin_of(suite.slice, 40)


@pytest.mark.parametrize(
    ("policy", "reason"),
    [
        ({"limits": {"max_net_loss": 0.5}}, None),
        ({"limits": {"min_pass_rate": 0.1}}, None),
        ({"fidelity": {"max_kl": 1.0, "level": "critical"}}, None),
        ({"fidelity": {"max_kl": 1.0}}, "acceptance"),
    ],
)
def test_acceptance_does_not_end_a_run_whose_limits_count_all_cases(policy, reason):
    many = [True] * 900
    theirs = make_record("int8", {"a": many}, stopping=Stopping(on=("harm", "acceptance")), fidelity=FIDELITY)
    scored = tuple(make_scored("a", f"c{i:04}", (0.1,)) for i in range(600))
    theirs = theirs._replace(outcomes=theirs.outcomes[:600], scored=scored)
    assert ends(make_record("fp32", {"a": many}, fidelity=FIDELITY), theirs, Policy(**policy), 1) == reason


def test_a_slice_still_to_come_is_a_test_of_the_family():
    # 9 : 0 of the first suite has p = 10/1023. It is the pool so far, and suite b is still to come: two tests.
    alone = candidate(9, answered=40, on=("harm",), ended="harm")
    alone = alone._replace(outcomes=tuple(o for o in alone.outcomes if o.suite == "a"))
    report = build_report(baseline(), [alone], Policy(), created_at="t")
    row = next(v for v in report.candidates[0].verdicts if v.slice.label == "a")
    assert row.p_harm_adjusted == pytest.approx(2 * 10 / 1023, rel=1e-3)


def test_a_run_that_was_ended_early_is_no_baseline():
    ours = baseline(stopping=Stopping(on=("harm",), ended="harm"))
    report = build_report(ours, [make_record("nf4", {"a": RIGHT, "b": RIGHT})], Policy(), created_at="t")
    assert report.exit_code == 5
    assert "was ended early" in report.candidates[0].reasons[0]


def test_harm_does_not_wait_for_slices_and_limits_that_were_not_reached():
    tags = {"a": [{"kind": "rare" if i >= 360 else "common"} for i in range(N)]}
    ours = make_record("fp32", {"a": RIGHT}, tags=tags)
    worse = [passed and i >= 40 for i, passed in enumerate(RIGHT)]
    theirs = make_record("nf4", {"a": worse}, tags=tags, stopping=Stopping(on=("harm",)))
    theirs = theirs._replace(outcomes=theirs.outcomes[:120])
    policy = Policy(required=("kind=rare",), limits={"min_pass_rate": {"kind=rare": 0.1}, "min_scored": 0.99})
    assert ends(ours, theirs, policy, 1) == "harm"
    header = theirs.header.model_copy(update={"stopping": Stopping(on=("harm",), ended="harm")})
    report = build_report(ours, [theirs._replace(header=header)], policy, created_at="t")
    assert (report.decision, report.exit_code) == ("regressed", 1)
    # A slice that no case has is still a fault of the policy.
    unknown = policy.model_copy(update={"required": ("kind=seldom",)})
    report = build_report(ours, [theirs._replace(header=header)], unknown, created_at="t")
    assert report.decision == "incomplete"


def test_one_of_several_candidates_needs_more_to_end_where_the_best_is_taken():
    # 11 : 0 has e = 341, over 3 * 100 and under 3 * 100 * 4.
    record = candidate(11, answered=40, on=("harm",))
    best = Policy(candidates_required="best")
    assert ends(baseline(), record, best, 1) == "harm"
    assert ends(baseline(), record, best, 4) is None


def test_a_record_that_differs_from_its_own_repeat_ends_nothing():
    again = {"a": [False] * 40, "b": RIGHT[:40]}
    assert ends(baseline(repeats=again), candidate(20, answered=40), Policy(), 1) is None


def test_the_label_of_the_interval_is_its_own():
    report = build_report(baseline(), [candidate(20, answered=40, ended="harm")], Policy(), created_at="t")
    assert report.candidates[0].confidence == pytest.approx(0.98)
    assert any("intervals at 98 %: confidence sequences" in note for note in report.candidates[0].notes)
