"""After how many cases what is planted shows."""

import random
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qeval.compare.pairs import pair_records
from qeval.compare.sequential import harm_evidence
from qeval.selftest.stopping import LOOK_EVERY, harm_shown_at, in_random_order, stopped_at
from tests.factories import make_outcome, make_proof, make_record

N = 200
RIGHT = {"s": [True] * N}
ALPHA = 0.05


def candidate(lost=0, **overrides):
    return make_record("b", {"s": [i >= lost for i in range(N)]}, format="nf4", **overrides)


def outcomes(**changed):
    """All right, but for some cases with other fields."""
    return [make_outcome("s", f"c{i:04}", True, **changed.get(f"c{i:04}", {})) for i in range(N)]


def place(case, seed=0):
    """Where a case stands in the random order, counted from 1."""
    pairs = in_random_order(pair_records(make_record("a", RIGHT), candidate()).pairs, seed)
    return [pair.info.case for pair in pairs].index(case) + 1


def test_a_candidate_without_a_record_is_stopped_before_the_first_case():
    assert stopped_at(make_record("a", RIGHT), None, ALPHA) == 0


def test_equal_answers_end_nothing_early():
    assert stopped_at(make_record("a", RIGHT), candidate(), ALPHA) is None


def test_total_damage_shows_at_the_first_look():
    assert stopped_at(make_record("a", RIGHT), candidate(lost=N), ALPHA) == LOOK_EVERY


def test_another_prompt_shows_at_the_first_case_that_has_it():
    found = candidate(outcomes=outcomes(c0007={"prompt_hash": "x"}))
    assert stopped_at(make_record("a", RIGHT), found, ALPHA) == place("c0007")


def test_a_numeric_error_shows_at_its_case():
    broken = {"status": "numeric_error", "text": "", "token_ids": (), "finish": None, "grades": ()}
    found = candidate(outcomes=outcomes(c0009=broken))
    assert stopped_at(make_record("a", RIGHT), found, ALPHA) == place("c0009")


@pytest.mark.parametrize(("tokens", "wanted"), [(5, 200), (10, 100), (4, None)])
def test_copied_answers_show_at_a_thousand_tokens(tokens, wanted):
    mine = [make_outcome("s", f"c{i:04}", True, token_ids=(7,) * tokens) for i in range(N)]
    plain = make_proof(quantized_modules=0, skipped_modules=())
    baseline = make_record("a", RIGHT, outcomes=mine, proof=plain)
    assert stopped_at(baseline, candidate(outcomes=mine, proof=make_proof()), ALPHA) == wanted


@given(st.lists(st.sampled_from([-1, 0, 0, 0, 1]), max_size=120), st.integers(0, 3))
def test_the_first_look_that_suffices_is_returned(nets, seed):
    before = [net <= 0 for net in nets]
    after = [net >= 0 for net in nets]
    baseline, other = make_record("a", {"s": before}), make_record("b", {"s": after})
    pairs = in_random_order(pair_records(baseline, other).pairs, seed)
    ordered = [nets[int(pair.info.case[1:])] for pair in pairs]
    enough = [n for n in range(LOOK_EVERY, len(nets) + 1, LOOK_EVERY) if harm_evidence(ordered[:n]) >= 1 / ALPHA]
    assert harm_shown_at(pairs, ALPHA) == (enough[0] if enough else None)


def test_cases_of_a_cluster_count_once_and_stay_together():
    clusters = {"s": [f"document {i // 50}" for i in range(N)]}
    baseline = make_record("a", RIGHT, clusters=clusters)
    lost = make_record("b", {"s": [i >= 50 for i in range(N)]}, clusters=clusters)
    pairs = in_random_order(pair_records(baseline, lost).pairs, 0)
    names = [pair.info.cluster for pair in pairs]
    assert sum(one != other for one, other in pairwise(names)) == 3
    assert harm_shown_at(pairs, ALPHA) is None


def test_the_order_does_not_depend_on_the_order_of_the_record():
    pairs = list(pair_records(make_record("a", RIGHT), candidate()).pairs)
    shuffled = random.Random(1).sample(pairs, len(pairs))
    assert in_random_order(pairs, 0) == in_random_order(shuffled, 0)
    assert in_random_order(pairs, 0) != in_random_order(pairs, 1)
