"""Stored answers of a real 1.5B model in fp16, int8 and int4: the counts and p-values published beside them."""

import pytest

from qeval.compare.build import build_report
from qeval.compare.mcnemar import two_sided_exact
from qeval.compare.policy import Policy
from tests.compare.quant_flips import BENCHMARKS, needs_data, read_record

pytestmark = needs_data

TWO_POINTS = Policy(margins={"pool": 0.02, "suites": dict.fromkeys(BENCHMARKS, 0.02)})
PUBLISHED = [
    # candidate, benchmark, n, accuracy before and after, right->wrong, wrong->right, wrong->other wrong, exact p
    ("int8", "arc", 1000, 0.7530, 0.7620, 5, 14, 9, 0.0636),
    ("int4", "arc", 1000, 0.7530, 0.7030, 68, 18, 25, 5.29e-08),
    ("int8", "mmlu", 975, 0.6103, 0.6123, 20, 22, 15, 0.878),
    ("int4", "mmlu", 975, 0.6103, 0.5662, 86, 43, 57, 0.000192),
    ("int8", "csqa", 986, 0.7748, 0.7789, 11, 15, 3, 0.557),
    ("int4", "csqa", 986, 0.7748, 0.7667, 45, 37, 18, 0.44),
]
WORKED = [
    # candidate, suite, interval in points, p against a loss beyond 2 points, verdict
    ("int4", "arc", (-6.58, -3.54), 0.9996, "regressed"),
    ("int4", "mmlu", (-6.35, -2.52), 0.982, "regressed"),
    ("int4", "csqa", (-2.35, 0.71), 0.101, "inconclusive"),
    ("int8", "arc", (0.20, 1.71), 0.0, "equivalent"),
    ("int8", "mmlu", (-0.91, 1.34), 0.001, "equivalent"),
    ("int8", "csqa", (-0.47, 1.31), 0.0, "equivalent"),
]


@pytest.fixture(scope="module")
def report():
    baseline, *candidates = (read_record(precision) for precision in ("fp16", "int8", "int4"))
    return build_report(baseline, candidates, TWO_POINTS, created_at="2026-01-01T00:00:00Z")


def verdict(report, candidate, suite):
    result = next(result for result in report.candidates if result.candidate == candidate)
    return next(v for v in result.verdicts if v.slice.label == suite and v.metric == "pass")


@pytest.mark.parametrize("row", PUBLISHED, ids=lambda row: "-".join(row[:2]))
def test_flip_counts_and_p_values_are_the_published_ones(report, row):
    candidate, suite, n, before, after, losses, gains, changed, p = row
    found = verdict(report, candidate, suite)
    assert (found.n, found.losses, found.gains, found.changed_wrong) == (n, losses, gains, changed)
    assert (round(found.baseline_rate, 4), round(found.candidate_rate, 4)) == (before, after)
    assert float(f"{two_sided_exact(losses, gains):.3g}") == p


@pytest.mark.parametrize("row", WORKED, ids=lambda row: "-".join(row[:2]))
def test_verdicts_at_two_points_are_those_worked_in_the_method(report, row):
    candidate, suite, (low, high), p, ruling = row
    found = verdict(report, candidate, suite)
    assert (round(100 * found.low, 2), round(100 * found.high, 2)) == pytest.approx((low, high), abs=0.0101)
    assert found.p_noninferior == pytest.approx(p, abs=5e-4)
    assert found.ruling == ruling


def test_the_decisions_follow(report):
    assert [(result.candidate, result.decision) for result in report.candidates] == [
        ("int8", "accepted"),
        ("int4", "regressed"),
    ]
    assert (report.decision, report.exit_code) == ("regressed", 1)
