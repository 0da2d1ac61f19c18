"""Ending early: what ends a run, what a report then says, and that the levels are split."""

import pytest

from qeval.compare.build import build_report
from qeval.compare.early import ends
from qeval.compare.policy import Policy
from qeval.record import Stopping
from tests.factories import make_record

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
    rows = {v.slice.label: v for v in result.verdicts if v.metric == "pass"}
    assert (rows["a"].n, rows["a"].ruling, rows["b"].ruling) == (40, "regressed", "inconclusive")
    assert "ended early" in rows["b"].reason
    # 20 : 0 gives (2^21 - 1) / 21 = 99,864; three tests in the family.
    assert rows["a"].p_harm == pytest.approx(21 / (2**21 - 1), rel=1e-6)
    assert rows["a"].p_harm_adjusted == pytest.approx(3 * 21 / (2**21 - 1), rel=1e-6)


def test_a_little_harm_does_not_end_it():
    # 7 : 0 has an e-value of 31.9, under 3 / (0.2 * 0.05).
    assert ends(baseline(), candidate(7, answered=40), Policy(), 1) is None


def test_harm_within_the_margin_does_not_end_it():
    # 20 of 1,600 are proven, and exclude a loss beyond the widest of the margins.
    long = [True] * 4000
    little = [i >= 20 for i in range(4000)]
    ours = make_record("fp32", {"a": long})
    theirs = make_record("nf4", {"a": little}, stopping=Stopping(on=("harm",)))
    assert ends(ours, theirs, Policy(), 1) is None


def test_nothing_wrong_ends_it_only_where_acceptance_may():
    many = [True] * 3000
    ours = make_record("fp32", {"a": many})
    theirs = make_record("int8", {"a": many})
    theirs = theirs._replace(outcomes=theirs.outcomes[:1000])
    for on, reason in ((("harm", "acceptance"), "acceptance"), (("harm",), None)):
        header = theirs.header.model_copy(update={"stopping": Stopping(on=on)})
        assert ends(ours, theirs._replace(header=header), Policy(), 1) == reason
    ended = theirs.header.model_copy(update={"stopping": Stopping(on=("harm", "acceptance"), ended="acceptance")})
    report = build_report(ours, [theirs._replace(header=ended)], Policy(), created_at="t")
    assert report.decision == "accepted"
    assert report.candidates[0].verdicts[0].n == 1000


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
