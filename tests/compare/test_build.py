"""Records in, report out: one test for each decision and its exit code."""

import pytest

from qeval.compare.build import build_report
from qeval.compare.policy import Policy
from tests.factories import make_record

SMOKE = {
    name: [i % 2 == 0 for i in range(33)] for name in ("longdoc", "multilingual", "refusal", "schema", "toolcalls")
}


def report(baseline, *candidates, policy=None, **options):
    return build_report(baseline, candidates, policy or Policy(), created_at="2026-01-01T00:00:00Z", **options)


def test_a_baseline_against_its_own_repeat_is_accepted_at_smoke_size():
    made = report(make_record("fp32", SMOKE, repeats=SMOKE), make_record("again", SMOKE, repeats=SMOKE))
    assert (made.decision, made.exit_code) == ("accepted", 0)


def test_forty_cases_without_a_flip_are_inconclusive():
    few = {"longdoc": [i % 2 == 0 for i in range(40)]}
    made = report(make_record("fp32", few), make_record("again", few))
    assert (made.decision, made.exit_code) == ("inconclusive", 3)
    assert "needs about 1546 cases, has 40" in made.candidates[0].reasons[0]


@pytest.mark.parametrize("lost", [8, 15])
def test_a_planted_loss_is_regressed(lost):
    worse = {name: [right and i >= lost for i, right in enumerate(row)] for name, row in SMOKE.items()}
    made = report(make_record("fp32", SMOKE), make_record("int4", worse))
    assert (made.decision, made.exit_code) == ("regressed", 1)
