"""Each figure of fidelity against numpy, on made positions."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qeval.compare.correlation import correlation
from tests.compare.test_fidelity import fidelity_of, pool
from tests.factories import make_scored

FRACTIONS = {"p999": 0.999, "p99": 0.99, "p95": 0.95, "p90": 0.9, "p75": 0.75, "median": 0.5, "p25": 0.25, "p10": 0.1,
             "p05": 0.05, "p01": 0.01, "p001": 0.001}  # fmt: skip
NOT_OF_KL = {"p75", "p25"}
P = [0.9, 0.5, 0.3, 0.8, 0.6]
Q = [0.7, 0.6, 0.1, 0.8, 0.2]
MOVES = np.array(Q) - np.array(P)


def described(values, **lists):
    """The pool's statistics, the positions in one answer of its own each."""
    passes = {"s": [True] * len(values)}
    cut = [{name: column[i : i + 1] for name, column in lists.items()} for i in range(len(values))]
    scored = [make_scored("s", f"c{i:04}", values[i : i + 1], **part) for i, part in enumerate(cut)]
    return pool(fidelity_of(scored, passes=passes)).statistics


def by_probability():
    return described([0.1] * 5, logprob=[math.log(q) for q in Q], reference_logprob=[math.log(p) for p in P])


def plain_se(values):
    """As llama.cpp writes it, which is the clustered one where every position is a cluster."""
    return math.sqrt(np.var(values) / (len(values) - 1))


def test_the_change_of_probability_has_its_errors_and_ends():
    seen = by_probability()
    assert (seen.dp_mean, seen.dp_se) == pytest.approx((np.mean(MOVES), plain_se(MOVES)))
    assert seen.dp_rms == pytest.approx(math.sqrt(np.mean(MOVES**2)))
    assert seen.dp_rms_se == pytest.approx(0.5 / seen.dp_rms * plain_se(MOVES**2))
    assert (seen.dp_min, seen.dp_max) == pytest.approx((MOVES.min(), MOVES.max()))


def test_errors_are_of_clusters_where_answers_have_several_positions():
    logs = {"logprob": np.log(Q), "reference_logprob": np.log(P)}
    cut = [{name: tuple(map(float, column[part])) for name, column in logs.items()} for part in (np.s_[:3], np.s_[3:])]
    scored = [make_scored("s", f"c000{i}", (0.1,) * n, **cut[i]) for i, n in enumerate((3, 2))]
    seen = pool(fidelity_of(scored)).statistics
    for found, values in ((seen.dp_se, MOVES), (seen.dp_rms_se * 2 * seen.dp_rms, MOVES**2)):
        misses = [part.sum() - values.mean() * len(part) for part in (values[:3], values[3:])]
        assert found == pytest.approx(math.sqrt(2 * np.sum(np.square(misses))) / 5)


def test_where_no_probability_moves_the_error_of_the_root_is_not_known():
    seen = described([0.1] * 5)
    assert (seen.dp_rms, seen.dp_se, seen.dp_rms_se) == (0, 0, None)


def test_the_share_of_equal_tops_has_its_error():
    seen = described([0.1] * 5, top=(1, 1, 2, 1, 3))
    p = 3 / 5
    assert (seen.same_top_p, seen.same_top_p_se) == pytest.approx((p, math.sqrt(p * (1 - p) / 4)))


def test_the_correlation_of_perplexities_is_pearsons_and_none_where_nothing_varies():
    assert by_probability().cor_ln_ppl == pytest.approx(np.corrcoef(np.log(Q), np.log(P))[0, 1])
    # The mean of these is off by a rounding.
    assert described([0.1] * 3, reference_logprob=(-0.3, -0.2, -0.1)).cor_ln_ppl is None
    assert correlation([0.1, 0.1, 0.1], [0.1, 0.2, 0.3]) is None
    assert correlation([1.0], [2.0]) is None
    assert correlation([0.0, 1e-200], [0.0, 1e-200]) is None


@given(
    st.lists(st.tuples(st.floats(0, 9), st.floats(-9, 0), st.floats(-9, 0)), min_size=100, max_size=130),
)
def test_percentiles_are_the_linear_ones(positions):
    kl, logprob, reference_logprob = zip(*positions, strict=True)
    one = make_scored("s", "c0000", kl, logprob=logprob, reference_logprob=reference_logprob)
    seen = pool(fidelity_of([one])).statistics.model_dump()
    moves = np.exp(logprob) - np.exp(reference_logprob)
    for name, fraction in FRACTIONS.items():
        assert seen[f"dp_{name}"] == pytest.approx(np.quantile(moves, fraction), abs=1e-12)
        if name not in NOT_OF_KL:
            assert seen[f"kld_{name}"] == pytest.approx(np.quantile(kl, fraction), abs=1e-12)
    assert (seen["dp_min"], seen["dp_max"]) == pytest.approx((moves.min(), moves.max()))


def test_percentiles_are_not_known_of_few_positions_and_the_ends_are():
    seen = pool(fidelity_of([make_scored("s", "c0000", (0.1,) * 99)])).statistics.model_dump()
    assert {seen[f"{of}_{name}"] for of in ("dp", "kld") for name in FRACTIONS.keys() - NOT_OF_KL} == {None}
    assert (seen["dp_p75"], seen["dp_min"], seen["dp_max"], seen["kld_min"]) == (None, 0, 0, 0.1)


def test_reverse_divergence_has_a_mean_its_error_and_its_tail():
    # In no order, as positions come.
    values = [(i * 37 % 100) / 100 for i in range(100)]
    seen = described([0.1] * 100, reverse_kl=values)
    assert (seen.reverse_kld_mean, seen.reverse_kld_se) == pytest.approx((np.mean(values), plain_se(values)))
    assert seen.reverse_kld_p99 == pytest.approx(np.quantile(values, 0.99))
    assert seen.reverse_kld_high - seen.reverse_kld_mean == pytest.approx(1.660391 * seen.reverse_kld_se, rel=1e-5)
    assert seen.reverse_kld_mean - seen.reverse_kld_low == pytest.approx(seen.reverse_kld_high - seen.reverse_kld_mean)


def test_reverse_divergence_that_is_not_known_of_every_answer_is_not_known():
    known, plain = make_scored("s", "c0000", (0.1,), reverse_kl=(0.2,)), make_scored("s", "c0001", (0.1,))
    seen = pool(fidelity_of([known, plain])).statistics.model_dump()
    assert {value for name, value in seen.items() if name.startswith("reverse_")} == {None}
