"""Shrinkage of slices for ranking, against statsmodels and the real cells of quant_flips."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from statsmodels.stats.meta_analysis import combine_effects

from qeval.compare.build import build_report
from qeval.compare.policy import Policy
from qeval.compare.shrink import shrink
from tests.factories import make_record

SLICES = st.lists(st.tuples(st.floats(-0.3, 0.3), st.floats(0.001, 0.1)), min_size=2, max_size=12)


@given(SLICES)
def test_it_is_the_random_effects_mean_of_statsmodels(slices):
    effects, variances = [e for e, _ in slices], [s * s for _, s in slices]
    ours = shrink(effects, variances)
    assume(ours.between_variance > 1e-6)
    oracle = combine_effects(np.array(effects), np.array(variances), method_re="dl")
    assert ours.between_variance == pytest.approx(oracle.tau2, rel=1e-6)
    assert ours.mean == pytest.approx(oracle.mean_effect_re, abs=1e-9)


@given(SLICES)
def test_every_slice_moves_towards_the_mean(slices):
    effects = [e for e, _ in slices]
    found = shrink(effects, [s * s for _, s in slices])
    for before, after in zip(effects, found.effects, strict=True):
        assert min(before, found.mean) - 1e-12 <= after <= max(before, found.mean) + 1e-12


def test_one_slice_alone_stays():
    assert shrink([-0.2], [0.01]).effects == pytest.approx((-0.2,))


def test_exploratory_slices_carry_it_and_their_ruling_does_not_follow_it():
    # One language of ten cases lost four, others of sixty lost two each.
    tags = [{"lang": "xx"}] * 10 + [{"lang": f"l{i // 60}"} for i in range(240)]
    lost = {*range(4), *(10 + 60 * group + i for group in range(4) for i in (0, 1))}
    before = [True] * 250
    after = [i not in lost for i in range(250)]
    report = build_report(
        make_record("fp32", {"s": before}, tags={"s": tags}),
        [make_record("nf4", {"s": after}, tags={"s": tags})],
        Policy(),
        created_at="t",
    )
    rows = {v.slice.value: v for v in report.candidates[0].verdicts if v.slice.tag == "lang"}
    small, large = rows["xx"].model_dump(), rows["l0"].model_dump()
    assert small["difference"] == -0.4
    assert small["difference"] < small["shrunken"] < 0
    assert abs(large["shrunken"] - large["difference"]) < abs(small["shrunken"] - small["difference"])
    gating = [v for v in report.candidates[0].verdicts if v.slice.tag is None]
    assert all(v.shrunken is None for v in gating)
