"""Which cases are independent: by equal prompts and by clusters, in whatever suites and order they come."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qeval.independence import Known, Placed, independence, independence_notes, settle

CASES = st.lists(
    st.builds(
        lambda suite, number, cluster, asks: Known(
            suite, f"c{number}", f"d{cluster}", tuple(("asked", a) for a in asks)
        ),
        st.sampled_from("ab"),
        st.integers(0, 200),
        st.integers(0, 5),
        st.lists(st.sampled_from("pqrstuvwxyz"), max_size=2),
    ),
    max_size=20,
    unique_by=lambda one: (one.suite, one.case),
)


def known(suite, case, cluster=None, *prompts):
    return Known(suite, case, cluster or case, tuple(("asked", prompt) for prompt in prompts))


def measured(cases, near=()):
    shared, near = settle(cases), dict(near)
    keys = [(one.suite, one.case) for one in cases]
    return independence([Placed(*key, shared[key], near.get(key)) for key in keys])


@given(CASES, st.randoms(use_true_random=False))
def test_the_order_of_cases_changes_no_prompt_and_no_cluster(cases, random):
    assert settle(random.sample(cases, len(cases))) == settle(cases)


@given(CASES)
def test_a_copy_of_everything_is_no_further_prompt_or_cluster(cases):
    asked = [one._replace(asks=(*one.asks, ("tokens", f"{one.suite} {one.case}"))) for one in cases]
    copied = [one._replace(suite=f"copy of {one.suite}") for one in asked]
    one, both = measured(asked), measured([*asked, *copied])
    assert (both.prompts, both.clusters, both.cases) == (one.prompts, one.clusters, 2 * one.cases)


@given(CASES)
def test_an_equal_prompt_is_always_an_equal_cluster(cases):
    shared = settle(cases).values()
    assert len({one.prompt for one in shared}) == len(set(shared)) >= len({one.cluster for one in shared})


def test_clusters_that_share_a_prompt_become_one_over_several_steps():
    cases = [
        known("a", "1", "x", "p"),
        known("b", "1", "x", "p", "q"),
        known("b", "2", "y", "r"),
        known("c", "1", "z", "q"),
        known("c", "2", "z", "r"),
        known("d", "1", "x", "s"),
    ]
    shared = settle(cases)
    assert len({one.cluster for one in shared.values()}) == 2
    assert shared["d", "1"].cluster not in {one.cluster for key, one in shared.items() if key[0] != "d"}
    # Three prompts: p and q are one, as suite b's case has both digests.
    assert len({one.prompt for one in shared.values()}) == 3


def test_a_cluster_name_in_two_suites_is_a_coincidence():
    found = measured([known("a", "1", "doc", "p"), known("b", "1", "doc", "q")])
    assert (found.clusters, found.prompts, independence_notes(found)) == (2, 2, ())


def test_copies_are_counted_and_said():
    found = measured([known(suite, str(n), None, f"p{n}") for suite in "abcdefgh" for n in range(60)])
    assert (found.cases, found.prompts, found.clusters, found.copies) == (480, 60, 60, 420)
    (note,) = independence_notes(found)
    assert note.startswith("480 cases in 8 suites ask 60 different prompts")
    assert "420 cases add no evidence" in note


def test_near_equal_prompts_are_said_with_what_they_are_worth():
    cases = [known("a", str(n), None, f"p{n}") for n in range(36)]
    found = measured(cases, {("a", str(n)): f"a/{n % 3}" for n in range(36)})
    assert found.near_equal is not None
    near = found.near_equal
    assert (near.groups, near.prompts, near.largest, near.clusters, near.example) == (3, 36, 12, 3, "a/0")
    assert near.effective_n == pytest.approx(36 / (1 + 11 * 0.2))
    (note,) = independence_notes(found)
    assert "36 of 36 prompts" in note
    assert "in 3 groups (the largest: 12, such as a/0)" in note
    assert "correlation of 0.2" in note
    assert "as much as 11 independent" in note


def test_near_equal_prompts_of_one_cluster_are_not_said():
    cases = [known("a", str(n), "template", f"p{n}") for n in range(9)]
    assert measured(cases, {("a", str(n)): "a/0" for n in range(9)}).near_equal is None


def test_copies_of_one_prompt_are_no_near_equal_group():
    cases = [known(suite, "1", None, "p") for suite in "abcd"]
    assert measured(cases, {(suite, "1"): "a/1" for suite in "abcd"}).near_equal is None
