"""Equal prompts count once: whatever is copied, the comparison says what it says of one copy."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from qeval.compare.build import build_report
from qeval.compare.early import ends
from qeval.compare.members import members_of
from qeval.compare.noise import self_faults
from qeval.compare.policy import Policy
from qeval.outcome import Grade
from qeval.record import Stopping
from tests.factories import FIDELITY, make_outcome, make_record, make_scored

ROWS = [json.loads(line) for line in Path(__file__).with_name("copies.jsonl").read_text("utf-8").splitlines()]
WHERE = {"slice", "role", "reason", "level", "planned", "copies"}
"""Fields of a verdict that name its slice or count its cases one by one."""


def passes(text):
    return [part.split("x")[0] == "1" for part in text.split() for _ in range(int(part.split("x")[1]))]


def copied(variant, row, copies, *, inside=False, again=0, **more):
    """A record whose case i has prompt i: in so many suites, or so many times in one suite."""
    suites = {"s0": row * copies} if inside else {f"s{n}": row for n in range(copies)}
    repeats = {"s0": row[:again] * (copies if not inside else 1)} if inside else dict.fromkeys(suites, row[:again])
    record = make_record(variant, suites, repeats=repeats if again else (), **more)
    # No two variants say the very same: that a candidate is its baseline is another matter.
    spoken = [one.model_copy(update={"text": f"{variant}: {one.text}"}) for one in record.outcomes]
    own = record._replace(outcomes=tuple(spoken))
    return with_prompts(own, lambda suite, case: f"prompt {int(case[1:]) % len(row)}")


def with_prompts(record, prompt):
    told = [one.model_copy(update={"prompt_hash": prompt(one.suite, one.case)}) for one in record.outcomes]
    return record._replace(outcomes=tuple(told))


def report(baseline, *candidates, **policy):
    return build_report(baseline, candidates, Policy(**policy), created_at="t")


def figures(built, label):
    found = next(v for c in built.candidates for v in c.verdicts if v.slice.label == label and v.metric == "pass")
    return found.model_dump(exclude=WHERE)


@pytest.mark.parametrize("inside", [False, True], ids=["suites", "one suite"])
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["name"])
def test_copies_change_no_figure_and_no_decision(row, inside):
    before, after = passes(row["baseline"]), passes(row["candidate"])
    one, many = (
        report(copied("fp32", before, n, inside=inside), copied("nf4", after, n, inside=inside))
        for n in (1, row["copies"])
    )
    assert one.decision == many.decision == row["decision"]
    assert figures(many, "all") == figures(one, "all")
    assert figures(many, "s0") == figures(one, "s0")
    assert many.independence is not None
    assert (many.independence.prompts, many.independence.copies) == (len(before), (row["copies"] - 1) * len(before))
    assert any(f"ask {len(before)} different prompts" in text for text in many.warnings)
    assert not any("different prompts" in text for text in one.warnings)


def test_an_easy_case_copied_does_not_dilute_losses():
    baseline = make_record("fp32", {"s": [True] * 1000})
    candidate = make_record("nf4", {"s": [False] * 20 + [True] * 980})
    baseline, candidate = (
        with_prompts(r, lambda _, case: "easy" if int(case[1:]) >= 80 else case) for r in (baseline, candidate)
    )
    policy = {"limits": {"max_net_loss": 0.05, "min_pass_rate": 0.9}}
    built = report(baseline, candidate, **policy)
    assert built.decision == "regressed"
    broken = {limit.name: limit.text for limit in built.candidates[0].limits if limit.broken}
    assert broken["max_net_loss"].startswith("net loss 20 of 81 cases")
    assert broken["min_pass_rate"].startswith("passes 61 of 81 cases")


def test_equal_prompts_with_other_graders_are_one_case_with_their_mean():
    row = [True] * 60
    baseline = copied("fp32", row, 2)
    # The second suite asks for something else, which the candidate fails in a third of the cases.
    candidate = copied("nf4", row, 2)
    lost = [
        one.model_copy(update={"grades": (Grade(metric="contains", status="fail"),)})
        if one.suite == "s1" and int(one.case[1:]) < 20
        else one
        for one in candidate.outcomes
    ]
    built = report(baseline, candidate._replace(outcomes=tuple(lost)))
    pool = figures(built, "all")
    assert (pool["n"], pool["clusters"], pool["losses"], pool["candidate_passed"]) == (60, 60, 20, 50.0)
    assert figures(built, "s1")["candidate_passed"] == 40


def test_a_copy_without_an_answer_still_counts_as_a_loss():
    baseline, candidate = copied("fp32", [True] * 60, 2), copied("nf4", [True] * 60, 2)
    gone = [
        make_outcome(o.suite, o.case, None, prompt_hash=o.prompt_hash) if o.suite == "s1" else o
        for o in candidate.outcomes
    ]
    built = report(baseline, candidate._replace(outcomes=tuple(gone)))
    pool = next(v for v in built.candidates[0].verdicts if v.slice.label == "all")
    assert (pool.n, pool.unanswered) == (60, {"timeout": 60})
    assert built.decision == "incomplete"


def test_clusters_that_share_a_prompt_are_one_in_a_comparison():
    clusters = {"a": [f"d{i // 2}" for i in range(40)], "b": [f"e{i // 2}" for i in range(40)]}
    record = make_record("fp32", {"a": [True] * 40, "b": [True] * 40}, clusters=clusters)
    # Every second case of b asks what the next one of a asks, so that documents hang together in pairs.
    chained = with_prompts(
        record, lambda suite, case: f"b {case}" if suite == "b" and int(case[1:]) % 2 else f"{int(case[1:]):04}"
    )
    members = members_of(chained.cases, [chained]).values()
    assert len({one.shared.cluster for one in members}) == 20
    assert len({one.shared.prompt for one in members}) == 60


def test_a_record_without_hashes_takes_what_the_cases_ask():
    record = make_record("fp32", {"a": [True] * 3, "b": [True] * 3})
    bare = record._replace(outcomes=tuple(o.model_copy(update={"prompt_hash": None}) for o in record.outcomes))
    # The question as it is kept: equal in both suites.
    assert len({one.shared.prompt for one in members_of(bare.cases, [bare]).values()}) == 3
    asked = [info.model_copy(update={"asked": f"{info.suite} {info.case}"}) for info in bare.cases]
    assert len({one.shared.prompt for one in members_of(asked, [bare]).values()}) == 6
    nothing = [info.model_copy(update={"question": ""}) for info in bare.cases]
    assert len({one.shared.prompt for one in members_of(nothing, [bare]).values()}) == 6


def test_prompts_equal_in_either_record_are_equal():
    ours, theirs = copied("fp32", [True] * 40, 2), copied("nf4", [True] * 40, 2)
    apart = with_prompts(theirs, lambda suite, case: f"{suite} {case}")
    members = members_of(ours.cases, (apart, ours))
    assert len({one.shared.prompt for one in members.values()}) == 40


def test_the_noise_floor_of_copies_is_that_of_one():
    row = [i % 3 != 0 for i in range(90)]
    one, many = (report(copied("fp32", row, n, again=40), copied("nf4", row, n, again=40)) for n in (1, 4))
    assert figures(many, "all") == figures(one, "all")
    assert figures(many, "all")["baseline_self"]["n"] == 40


def test_a_variant_that_differs_from_itself_in_copies_of_few_cases_is_no_fault():
    # Eight lost of eight would be a fault (mid-p 1/512); eight copies of one loss are not.
    record = make_record("fp32", {"s": [True] * 8}, repeats={"s": [False] * 8})
    assert self_faults(record)
    assert not self_faults(with_prompts(record, lambda _suite, _case: "one"))


@pytest.mark.parametrize("lost", [6, 7, 12])
def test_copies_are_no_further_evidence_at_a_look(lost):
    row = [True] * 40
    worse = [i >= lost for i in range(40)]
    found = []
    for copies in (1, 8):
        theirs = copied("nf4", worse, copies, stopping=Stopping(on=("harm", "acceptance")))
        found.append(ends(copied("fp32", row, copies), theirs, Policy(), 1))
    assert found[0] == found[1] == ("harm" if lost == 12 else None)


def test_copies_end_no_run_as_accepted():
    row = [True] * 60
    theirs = copied("nf4", row, 16, stopping=Stopping(on=("harm", "acceptance")))
    assert ends(copied("fp32", row, 16), theirs, Policy(), 1) is None


def test_the_fidelity_of_copies_is_that_of_one():
    built = []
    for copies in (1, 5):
        ours = copied("fp32", [True] * 30, copies, fidelity=FIDELITY)
        theirs = copied("nf4", [True] * 30, copies, fidelity=FIDELITY)
        scored = tuple(make_scored(o.suite, o.case, (0.01 * int(o.case[1:]), 0.3)) for o in theirs.outcomes)
        policy = {"fidelity": {"max_kl": 0.1}}
        built.append(report(ours, theirs._replace(scored=scored), **policy).candidates[0])
    one, many = ({s.slice.label: s.statistics for s in result.fidelity.slices} for result in built)
    assert one["all"] == many["all"]
    assert one["s0"] == many["s4"]
    bounds = [next(limit.text for limit in result.limits if limit.name == "max_kl") for result in built]
    assert bounds[0] == bounds[1]
    parts = [[p for p in result.fidelity.parts if p.slice.label == "all"] for result in built]
    assert parts[0] == parts[1]


def test_sampled_repeats_of_a_case_are_what_they_were():
    row = [i % 4 != 0 for i in range(80)]
    sampled: dict[str, Any] = {"decoding": {"do_sample": True}}
    plain = make_record("fp32", {"s": row}, repeats=[{"s": row}] * 3, **sampled)
    found = figures(report(plain, make_record("nf4", {"s": row}, repeats=[{"s": row}] * 3, **sampled)), "all")
    assert (found["n"], found["clusters"]) == (80, 80)


def test_suites_of_the_very_same_questions_are_one_test():
    row = [True] * 100
    worse = [i >= 6 for i in range(100)]
    built = report(copied("fp32", row, 6), copied("nf4", worse, 6))
    adjusted = {v.p_harm_adjusted for v in built.candidates[0].verdicts if v.metric == "pass"}
    # Mid-p of six losses, once.
    assert adjusted == {1 / 128}
