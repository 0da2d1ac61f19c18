"""What is planted, and what may come of it."""

import pytest

from qeval.selftest.planted import BASELINE, QUANTIZED, arms

HARMLESS = {"fp32-repeat", "renamed"}


@pytest.mark.parametrize("quick", [False, True])
def test_nothing_but_equal_weights_may_be_accepted(quick):
    planted = [one for arm in arms(quick=quick) for one in arm.planted]
    assert {one.name for one in planted if "accepted" in one.allowed} == HARMLESS
    assert all(one.allowed == ("accepted",) for one in planted if one.name in HARMLESS)


def test_only_with_few_cases_may_a_damage_of_eight_points_stay_open():
    allowed = {quick: {one.name: one.allowed for one in arms(quick=quick)[0].planted} for quick in (False, True)}
    assert allowed[False]["damage-8"] == ("regressed",)
    assert set(allowed[True]["damage-8"]) == {"regressed", "inconclusive"}
    assert allowed[True]["damage-30"] == allowed[False]["damage-30"] == ("regressed",)


@pytest.mark.parametrize("quick", [False, True])
def test_names_are_different_and_a_cache_has_a_format_to_pretend_to_be(quick):
    for arm in arms(quick=quick):
        names = [BASELINE, *(one.name for one in arm.planted), *arm.more]
        assert len(set(names)) == len(names)
        assert QUANTIZED in arm.more or not any(one.cached for one in arm.planted)
