"""Sets that grow together: the same sets and names in whatever order they were joined."""

from hypothesis import given
from hypothesis import strategies as st

from qeval.groups import Groups

MEMBERS = st.tuples(st.integers(0, 12))
JOINS = st.lists(st.lists(MEMBERS, min_size=1, max_size=4), max_size=12)


def names(joins):
    groups = Groups[tuple[int]]()
    for members in joins:
        groups.join(members)
    return {(n,): groups.name((n,)) for n in range(13)}


def by_hand(joins):
    """Each member's set, by joining what overlaps until nothing does."""
    sets = [{(n,)} for n in range(13)]
    for members in joins:
        touched = [one for one in sets if one & set(members)]
        sets = [one for one in sets if not one & set(members)] + [set().union(*touched)]
    return {member: min(one) for one in sets for member in one}


@given(JOINS)
def test_sets_are_those_that_share_a_member(joins):
    assert names(joins) == by_hand(joins)


@given(JOINS, st.randoms(use_true_random=False))
def test_the_order_of_joining_changes_nothing(joins, random):
    shuffled = [random.sample(members, len(members)) for members in random.sample(joins, len(joins))]
    assert names(shuffled) == names(joins)


@given(JOINS)
def test_joining_again_changes_nothing(joins):
    assert names([*joins, *joins]) == names(joins)


def test_nothing_joined_is_no_set():
    groups = Groups[tuple[int]]()
    groups.join([])
    assert groups.name((1,)) == (1,)
