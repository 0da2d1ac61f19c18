"""What every report shows, and in which words."""

from __future__ import annotations

from qeval.reporting import view
from tests.reporting.fake import full_report, picked_report, verdict


def test_every_flag_of_a_verdict_has_words():
    assert {"margin_in_noise", "ended_early"} <= view.FLAG_WORDS.keys()


def test_notable_slices_are_ranked_by_the_shrunken_difference_where_there_is_one(report):
    names = [v.slice.label for v in view.notable_slices(report.candidates[0])]
    # By the difference seen, the eight Arabic cases (-50 points) would lead the 120 Latin ones (-20).
    assert names == ["longdoc/depth=0.9", "all/script=Latn", "all/script=Arab", "multilingual/lang=ar"]


def test_what_has_no_data_is_ranked_last():
    assert view.ranking(verdict(n=0)) > view.ranking(verdict(gains=32))


def test_the_picked_candidate_is_named_with_the_reason():
    report = picked_report()
    assert view.run_line(report).startswith("ACCEPTED, taking nf4 (smallest of 2 accepted; ")
    alone = report.model_copy(update={"candidates": report.candidates[1:]})
    assert view.picked_text(alone) == "the only one accepted"
    assert view.picked_text(full_report()) == ""


def test_only_a_run_ended_by_what_it_showed_counts_as_ended_early(report):
    assert [c.candidate for c in report.candidates if view.ended_early(c)] == ["int8+kv=int4"]


def test_the_suites_are_counted_by_ruling():
    rulings = {"a": "inconclusive", "b": "equivalent", "c": "equivalent"}
    rows = [verdict(name, role="suite", ruling=ruling) for name, ruling in rulings.items()]
    one = picked_report().candidates[0]
    many, few = (one.model_copy(update={"verdicts": (verdict(), *rows[:n])}) for n in (3, 1))
    assert view.suites_text(many) == "Suites: 1 inconclusive, 2 equivalent of 3"
    assert view.suites_text(few) == ""
    assert view.reason_text(many).endswith(". Suites: 1 inconclusive, 2 equivalent of 3")
