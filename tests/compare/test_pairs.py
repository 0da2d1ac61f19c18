"""Pairing by id, slices by tag, and what an arm without an answer counts as."""

import pytest

from qeval.compare.counts import as_losses, count
from qeval.compare.pairs import other_metrics, pair_records, score
from qeval.compare.slices import members, parse_slice, tag_slices
from qeval.outcome import Grade
from tests.factories import make_outcome, make_record

LANGS = [{"lang": lang, "depth": depth} for lang in ("de", "fr") for depth in ("0.1", "0.9")]


def pass_rows(baseline, candidate):
    return score(pair_records(baseline, candidate).pairs, "pass")


def test_items_in_another_order_and_one_missing_are_paired_by_id():
    base = make_record("a", {"s": [True, False, True, True]})
    cand = make_record("b", {"s": [True, True, False, True]})
    shuffled = cand._replace(outcomes=(cand.outcomes[2], cand.outcomes[0], cand.outcomes[1]))
    pairing = pair_records(base, shuffled)
    assert pairing.unpaired == ("s/c0003",)
    counts = count(score(pairing.pairs, "pass"))
    assert (counts.n, counts.losses, counts.gains, counts.unanswered) == (3, 1, 1, {"missing": 1})


def test_suites_that_only_one_record_ran_are_named_and_left_out():
    pairing = pair_records(make_record("a", {"s": [True], "t": [True]}), make_record("b", {"s": [True], "u": [True]}))
    assert [pair.info.suite for pair in pairing.pairs] == ["s"]
    assert (pairing.missing_suites, pairing.extra_suites, pairing.unpaired) == (("t",), ("u",), ())


@pytest.mark.parametrize(
    ("state", "counted_as"),
    [("crashed", "crashed"), ("running", "interrupted"), ("out_of_memory", "out_of_memory"), ("complete", "missing")],
)
def test_cases_without_an_outcome_count_under_what_ended_the_record(state, counted_as):
    base = make_record("a", {"s": [True] * 4})
    cand = make_record("b", {"s": [True] * 4}, state=state)
    counts = count(pass_rows(base, cand._replace(outcomes=cand.outcomes[:1])))
    assert (counts.n, counts.unanswered) == (1, {counted_as: 3})


def test_no_answers_of_either_arm_are_counted_apart_by_class():
    base = make_record("a", {"s": [True, True, None, None, False]})
    cand = make_record("b", {"s": [True, None, True, None, None]})
    counts = count(pass_rows(base, cand))
    assert (counts.planned, counts.n) == (5, 1)
    assert (counts.unanswered, counts.baseline_unanswered) == ({"timeout": 2}, {"timeout": 1})


def test_the_worst_case_turns_missing_answers_into_wrong_ones():
    counts = count(
        as_losses(pass_rows(make_record("a", {"s": [True, True, False]}), make_record("b", {"s": [True, None, None]})))
    )
    assert (counts.n, counts.losses, counts.gains, counts.candidate_passed) == (3, 1, 0, 1)


def test_a_failed_answer_stays_in_the_pairs_as_a_fail():
    empty = make_outcome("s", "c0000", False, text="", failure="empty", token_ids=())
    counts = count(pass_rows(make_record("a", {"s": [True]}), make_record("b", {"s": [True]}, outcomes=[empty])))
    assert (counts.n, counts.losses, counts.unanswered) == (1, 1, {})


def test_an_answer_that_a_grader_could_not_judge_is_not_scored():
    slow = Grade(metric="regex", status="ungraded", fault="grading_timeout")
    outcome = make_outcome("s", "c0000", True, grades=(slow,))
    counts = count(pass_rows(make_record("a", {"s": [True]}), make_record("b", {"s": [True]}, outcomes=[outcome])))
    assert (counts.n, counts.unanswered) == (0, {"grading_timeout": 1})


def test_wrong_answers_that_became_other_wrong_answers_are_counted():
    other = make_outcome("s", "c0000", False, text="also wrong")
    same_grade = make_outcome("s", "c0001", True, text="right, in other words")
    base = make_record("a", {"s": [False, True]})
    counts = count(pass_rows(base, make_record("b", {"s": [False, True]}, outcomes=[other, same_grade])))
    assert (counts.changed_wrong, counts.changed_text) == (1, 2)


def test_a_graders_own_metric_is_scored_where_it_was_graded():
    valid = Grade(metric="schema_valid", status="pass")
    outcomes = [make_outcome("s", "c0000", True, grades=(valid,)), make_outcome("s", "c0001", True)]
    record = make_record("a", {"s": [True, True]}, outcomes=outcomes)
    pairs = pair_records(record, record).pairs
    assert other_metrics(pairs) == ("contains", "schema_valid")
    assert [one.pair.info.case for one in score(pairs, "schema_valid")] == ["c0000"]


def test_clusters_of_one_name_in_two_suites_are_two():
    record = make_record("a", {"s": [True, True], "t": [True, True]}, clusters={"s": ["x", "x"], "t": ["x", "y"]})
    counts = count(pass_rows(record, record))
    assert (counts.clusters, counts.cluster_sizes) == (3, (2, 1, 1))


def test_every_tag_value_makes_a_slice_and_one_over_all_where_suites_share_it():
    record = make_record("a", {"s": [True] * 4, "t": [True] * 2}, tags={"s": LANGS, "t": [{"lang": "de"}] * 2})
    found = {key.label: at for key, at in tag_slices(record.cases).items()}
    assert found == {
        "all/lang=de": (0, 1, 4, 5),
        "s/lang=de": (0, 1),
        "s/lang=fr": (2, 3),
        "s/depth=0.1": (0, 2),
        "s/depth=0.9": (1, 3),
        "t/lang=de": (4, 5),
    }


def test_a_tag_that_is_an_identifier_makes_no_slices():
    record = make_record("a", {"s": [True] * 101}, tags={"s": [{"id": str(i), "kind": "x"} for i in range(101)]})
    assert [key.label for key in tag_slices(record.cases)] == ["s/kind=x"]


@pytest.mark.parametrize(
    ("name", "label", "at"),
    [
        ("all", "all", (0, 1, 2, 3)),
        ("s", "s", (0, 1, 2, 3)),
        ("lang=de", "all/lang=de", (0, 1)),
        ("all/lang=de", "all/lang=de", (0, 1)),
        ("s/depth=0.9", "s/depth=0.9", (1, 3)),
        ("lang=de&depth=0.9", "all/lang=de&depth=0.9", (1,)),
        ("s/lang=fr&depth=0.1", "s/lang=fr&depth=0.1", (2,)),
        ("t/lang=de", "t/lang=de", ()),
        ("lang=a/b", "all/lang=a/b", ()),
        ("lang=a&b", "all/lang=a&b", ()),
    ],
)
def test_slices_are_named_as_people_write_them(name, label, at):
    record = make_record("a", {"s": [True] * 4}, tags={"s": LANGS})
    key = parse_slice(name)
    assert (key.label, members(key, pass_rows(record, record))) == (label, at)


@pytest.mark.parametrize("name", ["", "/lang=de", "s/", "s/lang=", "=de", "s/lang"])
def test_a_name_with_an_empty_part_is_refused(name):
    with pytest.raises(ValueError, match="names no slice"):
        parse_slice(name)
