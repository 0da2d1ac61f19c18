"""Values between 0 and 1: means over repeats and graders' scores, in one interval and one test with whole ones."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qeval.compare.build import build_report
from qeval.compare.clusters import design_effect, sign_flip_midp, sign_flip_tail
from qeval.compare.counts import count
from qeval.compare.figures import figures
from qeval.compare.interval import tango
from qeval.compare.levels import Levels
from qeval.compare.pairs import pair_records, score
from qeval.compare.policy import Policy
from qeval.outcome import Grade
from tests.factories import make_outcome, make_record

AT = Levels(0.05, 0.05)


def scored_record(variant, scores):
    outcomes = [
        make_outcome("s", f"c{i:04}", share == 1, grades=(
            Grade(metric="contains", status="pass" if share == 1 else "fail", score=share),
        ))
        for i, share in enumerate(scores)
    ]  # fmt: skip
    return make_record(variant, {"s": [share == 1 for share in scores]}, outcomes=outcomes)


def found(before, after):
    pairs = pair_records(scored_record("a", before), scored_record("b", after)).pairs
    return figures(count(score(pairs, "contains score")), 0.02, AT)


def test_partial_credit_is_a_metric_of_its_own():
    before, after = [1.0, 0.5, 0.5, 0.0] * 30, [1.0, 0.5, 0.25, 0.0] * 30
    ours, theirs = scored_record("fp32", before), scored_record("nf4", after)
    report = build_report(ours, [theirs], Policy(), created_at="t")
    rows = {v.metric: v for v in report.candidates[0].verdicts if v.slice.suite == "s" and v.slice.tag is None}
    assert rows["contains score"].difference == pytest.approx(-0.25 / 4)
    assert (rows["contains score"].losses, rows["contains score"].gains) == (30, 0)
    assert rows["contains score"].baseline_rate == pytest.approx(0.5)
    # Pass and fail hide it: nobody passed who does not now.
    assert (rows["pass"].losses, rows["contains"].losses) == (0, 0)
    assert (rows["contains score"].p_harm or 0) < 1e-6
    assert not rows["contains score"].gates


def test_whole_scores_make_no_second_row():
    record = scored_record("fp32", [1.0, 0.0] * 30)
    report = build_report(record, [record._replace(header=record.header.model_copy(update={"variant": "x"}))],
                          Policy(), created_at="t")  # fmt: skip
    assert {v.metric for v in report.candidates[0].verdicts} == {"pass", "contains"}


def test_a_change_by_half_counts_as_a_quarter_of_a_flips_variance():
    # 40 changes by a half either way, of 400: variance 0.025 a case where 40 flips would have 0.1.
    halves = found([0.5] * 400, [0.0, 1.0] * 20 + [0.5] * 360)
    assert halves.effective_n == 400
    assert halves.low == pytest.approx(-halves.high)
    assert halves.high == pytest.approx(1.645 * (40 * 0.25 / 400**2) ** 0.5, rel=0.1)


@pytest.mark.parametrize("change", [0.0, -0.25])
def test_equal_changes_everywhere_have_an_interval(change):
    seen = found([0.75] * 200, [0.75 + change] * 200)
    assert seen.low < change <= seen.high
    assert seen.high - seen.low > 0.02
    assert seen.p_harm == (0.5 if change == 0 else pytest.approx(0.0, abs=1e-12))


@given(st.lists(st.integers(-3, 3), min_size=2, max_size=10))
def test_fractions_give_the_p_value_of_whole_numbers_in_proportion(nets):
    found = sign_flip_midp([net / 7 for net in nets])
    # Rounding may part what was equal; it never moves past what was apart.
    whole = sign_flip_tail(nets)
    assert whole.above / whole.total <= found <= whole.exact


@pytest.mark.parametrize(
    ("nets", "p"),
    [
        ([-0.2] * 2600, 0.0),
        ([-0.6] * 900 + [0.4] * 1350, 0.5),
        ([-0.6] * 30 + [0.4] * 45, 0.5),
        ([-0.6] * 12 + [0.4] * 18, 0.5),
        ([-1 / 3] * 6 + [1 / 3] * 6, 0.5),
        ([0.25] * 40, 1.0),
    ],
    ids=["many small losses", "many that cancel", "some that cancel", "few that cancel", "thirds", "all gain"],
)
def test_sums_of_fractions_are_judged_by_their_size(nets, p):
    assert sign_flip_midp(nets) == pytest.approx(p, abs=0.06)


def test_what_binary_fractions_leave_is_no_loss():
    # Two cases of a document: from 1/3 to 2/3 and from 1 to 2/3.
    tags = [f"d{i // 2}" for i in range(120)]
    before = [[i % 2 == 1, i % 2 == 1, True] for i in range(120)]
    after = [[True, i % 2 == 1, i % 2 == 0] for i in range(120)]
    ours, theirs = (
        make_record(
            name,
            {"s": [case[0] for case in rows]},
            clusters={"s": tags},
            repeats=[{"s": [case[run] for case in rows]} for run in (1, 2)],
            decoding={"do_sample": True},
        )
        for name, rows in (("fp32", before), ("nf4", after))
    )
    row = build_report(ours, [theirs], Policy(), created_at="t").candidates[0].verdicts[0]
    assert row.difference == pytest.approx(0.0)
    assert row.p_harm == 0.5
    assert row.ruling != "regressed"


def test_a_tiny_change_makes_no_narrower_interval_than_none():
    none, tiny = found([1.0] * 40, [1.0] * 40), found([1.0] * 40, [1 - 1 / 17] + [1.0] * 39)
    assert none.high == pytest.approx(1.645**2 / (40 + 1.645**2), abs=1e-4)
    assert tiny.high - tiny.low >= none.high - none.low - 1e-9
    assert tiny.low < -0.02
    assert tiny.p_noninferior > 0.05


@given(st.lists(st.tuples(st.integers(1, 4), st.integers(-4, 4)), min_size=2, max_size=20))
def test_whole_changes_never_count_for_more_than_they_are(clusters):
    sizes = [size for size, _ in clusters]
    nets = [max(-size, min(size, net)) for size, net in clusters]
    changes = sum(abs(net) for net in nets)
    assert design_effect(sizes, nets, changes, changes) >= 1


def test_the_interval_of_fractions_covers():
    generator = np.random.default_rng(2)
    covered, n = 0, 150
    for _ in range(400):
        changed = generator.random(n) < 0.10
        moves = np.where(changed, generator.uniform(0, 1, n) - 0.7, 0.0)
        lost, won, squares = -moves[moves < 0].sum(), moves[moves > 0].sum(), (moves**2).sum()
        effect = design_effect([1] * n, list(moves), lost + won, squares)
        low, high = tango(lost / effect, won / effect, n / effect, 1.645)
        covered += low <= 0.10 * (0.5 - 0.7) <= high
    assert covered / 400 >= 0.86
