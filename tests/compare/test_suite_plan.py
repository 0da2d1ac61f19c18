"""Suites at hand, planned under a policy: the slices, margins and roles that a comparison would use."""

import math

import pytest

from qeval.compare.policy import Policy
from qeval.compare.power import cases_for_margin, smallest_detectable
from qeval.compare.report import SliceKey
from qeval.compare.suite_plan import plan_suites
from qeval.strict import validate
from qeval.suites.case import Case, Suite


def suite(name, n, *, per_cluster=1, lang=("de", "fr")):
    cases = [
        Case.model_validate(
            {
                "id": f"c{i}",
                "messages": [{"role": "user", "content": f"{name} {i}?"}],
                "graders": [{"kind": "contains", "value": "x"}],
                "tags": {"lang": lang[i % len(lang)]},
                "cluster": f"doc{i // per_cluster}" if per_cluster > 1 else None,
            }
        )
        for i in range(n)
    ]
    return Suite(name=name, version=1, description="made here", size="smoke", cases=tuple(cases))


def planned(suites, policy=None, *, power=0.8, correlation=0.0):
    return plan_suites(suites, policy or Policy(), power, correlation)


def rows(plan):
    return {row.label: row for row in plan.slices}


def policy(**content):
    return validate(Policy, content, "a policy made here")


def test_pool_and_suites_have_the_margin_in_force_and_what_it_takes():
    plan = planned([suite("a", 800), suite("b", 200)])
    assert [row.label for row in plan.slices] == ["all", "a", "b"]
    pool, a, b = plan.slices
    assert (pool.n, pool.margin, pool.cases_needed, pool.suffices) == (1000, 0.02, 1546, "no")
    assert (a.margin, a.cases_needed, a.suffices) == (0.03, 687, "alone")
    assert (b.margin, b.cases_needed) == (Policy().margin_of(SliceKey(suite="b"), 200), 200)
    assert (plan.tests, plan.must_hold) == (3, 3)
    assert a.cases_needed_together == cases_for_margin(0.10, 0.03, power=0.8 ** (1 / 3))
    assert a.smallest_detectable == pytest.approx(smallest_detectable(0.10, 800, 0.05 / 3))
    assert plan.chance == pytest.approx(pool.chance * a.chance * b.chance)


def test_a_lone_suite_and_the_pool_are_one_test_and_the_narrower_margin_counts():
    plan = planned([suite("a", 300)])
    assert (plan.tests, plan.must_hold) == (1, 1)
    assert plan.chance == pytest.approx(min(row.chance for row in plan.slices))
    assert plan.slices[1].smallest_detectable == pytest.approx(smallest_detectable(0.10, 300))


def test_enough_cases_suffice_for_all():
    plan = planned([suite("a", 3000)])
    assert {row.suffices for row in plan.slices} == {"yes"}
    assert plan.chance > 0.9


def test_required_slices_gate_and_advisory_and_tiny_suites_do_not():
    rules = policy(required=["lang=de"], level={"b": "advisory"})
    plan = planned([suite("a", 200), suite("b", 200), suite("tiny", 20)], rules)
    assert {row.label: row.gates for row in plan.slices} == {
        "all": True,
        "a": True,
        "b": False,
        "tiny": False,
        "all/lang=de": True,
    }
    assert rows(plan)["all/lang=de"].n == 210
    assert (plan.tests, plan.must_hold) == (5, 3)
    assert plan.chance == pytest.approx(math.prod(row.chance for row in plan.slices if row.gates))


def test_a_suite_that_only_the_policy_names_has_no_case_and_cannot_suffice():
    plan = planned([suite("a", 200)], policy(level={"lnogdoc": "critical"}))
    row = rows(plan)["lnogdoc"]
    assert (row.n, row.clusters, row.smallest_detectable, row.chance, row.suffices) == (0, 0, None, 0.0, "no")
    assert plan.chance == 0.0


def test_the_policy_sets_level_and_flip_rate():
    plan = planned([suite("a", 400)], policy(alpha=0.01, planning_flip_rate=0.05, margins={"pool": 0.04}))
    assert (plan.alpha, plan.flip_rate) == (0.01, 0.05)
    assert plan.slices[0].cases_needed == cases_for_margin(0.05, 0.04, 0.01)


def test_correlated_clusters_take_more_cases():
    docs = [suite("a", 200, per_cluster=5)]
    apart, together = planned(docs).slices[0], planned(docs, correlation=1.0).slices[0]
    assert (apart.n, apart.clusters) == (200, 40)
    assert together.cases_needed == 5 * apart.cases_needed
    assert together.chance < apart.chance


def test_equal_cluster_names_in_two_suites_are_two_clusters():
    plan = planned([suite("a", 60, per_cluster=2), suite("b", 60, per_cluster=2)])
    assert [row.clusters for row in plan.slices] == [60, 30, 30]


def test_under_ten_clusters_nothing_suffices():
    (pool, own) = planned([suite("a", 4000, per_cluster=500)]).slices
    assert (pool.clusters, pool.suffices, pool.chance, own.smallest_detectable) == (8, "no", 0.0, None)
    assert own.cases_needed == 5000
