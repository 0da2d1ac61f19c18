"""Judge grades of two judges are not compared, and reach the decision only where `pass` hangs on them."""

from __future__ import annotations

from typing import Any

import pytest

from qeval.compare.build import build_report
from qeval.compare.policy import Policy
from qeval.compare.report import CandidateResult, Report
from qeval.evidence import JudgeInfo
from qeval.outcome import Grade, Outcome
from qeval.record import Record
from tests.factories import make_outcome, make_record

ROW = {"s": [i % 2 == 0 for i in range(200)]}
JUDGE = JudgeInfo(
    model="m", served=("m-1",), prompt="p" * 64, endpoint="local", temperature=0.0, seed=0, max_tokens=512
)


def graded(right: bool, *, required: bool) -> tuple[Grade, ...]:
    own = Grade(metric="contains", status="pass" if right else "fail", fault=None if right else "wrong_value")
    judged = Grade(
        metric="judge",
        status="pass" if right else "fail",
        fault=None if right else "rubric_not_met",
        required=required,
    )
    return (own, judged)


def record(variant: str, judge: JudgeInfo | None, *, required: bool = False) -> Record:
    outcomes: list[Outcome] = [
        make_outcome("s", f"c{i:04}", right, grades=graded(right, required=required))
        for i, right in enumerate(ROW["s"])
    ]
    return make_record(variant, ROW, outcomes=outcomes, judge=judge)


def report(ours: JudgeInfo | None, theirs: JudgeInfo | None, *, required: bool = False) -> Report:
    baseline, candidate = record("fp32", ours, required=required), record("int8", theirs, required=required)
    return build_report(baseline, [candidate], Policy(), created_at="t")


def compare(ours: JudgeInfo | None, theirs: JudgeInfo | None, *, required: bool = False) -> CandidateResult:
    return report(ours, theirs, required=required).candidates[0]


def other(**changed: Any) -> JudgeInfo:
    return JUDGE.model_copy(update=changed)


DIFFERENT = [
    (other(model="n"), "judge (model): m in the baseline, n in the candidate"),
    (other(prompt="q" * 64), "judge (prompt): pppp"),
    (other(seed=1), "judge (seed): 0 in the baseline, 1 in the candidate"),
    (other(served=("m-2",)), "the endpoint served m-1 for the baseline, m-2 for the candidate"),
    (other(served=("m-1", "m-2")), "the endpoint served m-1 for the baseline, m-1, m-2 for the candidate"),
    (None, "judge: m in the baseline, none in the candidate"),
]


@pytest.mark.parametrize(("theirs", "said"), DIFFERENT)
def test_another_judge_takes_its_metric_away_and_leaves_the_rest(theirs: JudgeInfo | None, said: str) -> None:
    result = compare(JUDGE, theirs)
    assert any(said in caution for caution in result.comparability.cautions)
    assert {verdict.metric for verdict in result.verdicts} == {"pass", "contains"}
    assert result.decision == "accepted"


@pytest.mark.parametrize(("theirs", "said"), DIFFERENT)
def test_where_pass_hangs_on_the_judge_another_one_is_not_comparable(theirs: JudgeInfo | None, said: str) -> None:
    result = compare(JUDGE, theirs, required=True)
    assert result.decision == "not_comparable"
    assert any(said in reason for reason in result.reasons)
    assert result.verdicts == ()


@pytest.mark.parametrize("theirs", [JUDGE, other(served=()), other(endpoint="remote")])
@pytest.mark.parametrize("required", [False, True])
def test_the_same_judge_is_compared_as_any_metric_and_named(theirs: JudgeInfo, required: bool) -> None:
    made = report(JUDGE, theirs, required=required)
    (result,) = made.candidates
    assert result.decision == "accepted"
    assert (result.comparability.faults, result.comparability.cautions) == ((), ())
    (on_judge,) = [verdict for verdict in result.verdicts if verdict.metric == "judge"]
    assert (on_judge.n, on_judge.level, on_judge.baseline_passed) == (200, "advisory", 100)
    assert "judge of fp32 (m, local, prompt pppppppppppp): 200 of 200 grades given" in made.warnings


def test_a_model_that_was_replaced_while_it_judged_is_no_judge() -> None:
    both = other(served=("m-1", "m-2"))
    assert "served m-1, m-2 for the baseline, m-1, m-2 for the" in " ".join(compare(both, both).comparability.cautions)


def test_without_rubrics_nothing_is_said_of_a_judge() -> None:
    made = build_report(make_record("a", ROW), [make_record("b", ROW)], Policy(), created_at="t")
    assert not any("judge" in note for note in (*made.warnings, *made.candidates[0].comparability.cautions))


def test_rubrics_without_a_judge_are_counted_by_their_class() -> None:
    waiting = (Grade(metric="judge", status="ungraded", fault="judge_off", required=False),)
    outcomes = [make_outcome("s", f"c{i:04}", True, grades=waiting) for i in range(200)]
    baseline, candidate = (make_record(name, ROW, outcomes=outcomes) for name in ("fp32", "int8"))
    made = build_report(baseline, [candidate], Policy(), created_at="t")
    assert "judge of int8 (off): 0 of 200 grades given, judge_off 200" in made.warnings
    assert made.candidates[0].comparability.cautions == ()
