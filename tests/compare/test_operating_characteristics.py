"""The simulations behind docs/operating-characteristics.md: they judge as qeval does, and draw what they say."""

import numpy as np
import pytest

from qeval.compare.sequential import harm_evidence, margin_evidence
from scripts.characteristics.evidence import check_bound, harm, margin
from scripts.characteristics.gate import decisions, flips
from scripts.characteristics.studies import Design, clusters_at, outcomes, simulate

MIXED = Design(0.3, -0.05, cluster=3, copy=0.5, mixed=True, cases=60, every=7)


@pytest.mark.parametrize("design", [Design(0.3, cases=60, every=7), MIXED], ids=["cases", "mixed documents"])
def test_evidence_at_every_look_is_that_of_the_package(design):
    looks = next(simulate(design, 3, seed=1))
    for study, look in np.ndindex(looks.n.shape):
        sizes, nets = clusters_at(looks, study, look)
        assert sum(sizes) == looks.n[study, look] == min(7 * (look + 1), 60)
        assert sum(nets) == looks.gains[study, look] - looks.losses[study, look]
        assert harm(looks)[study, look] == pytest.approx(harm_evidence(nets), rel=1e-9)
        assert margin(looks, 0.03)[study, look] == pytest.approx(margin_evidence(sizes, nets, 0.03), rel=1e-9)


def test_the_bound_and_the_evidence_agree():
    check_bound(next(simulate(Design(0.1, -0.05, cases=200), 20, seed=1)), -0.05, 0.5)


def test_outcomes_have_the_rates_and_the_likeness_asked_for():
    drawn = outcomes(Design(0.3, -0.1, cluster=4, copy=0.8, cases=4000), 20, np.random.default_rng(1))
    assert (drawn != 0).mean() == pytest.approx(0.3, abs=0.01)
    assert drawn.mean() == pytest.approx(-0.1, abs=0.01)
    # Both of a pair share the fate of their document with chance 0.8 squared.
    likeness = np.corrcoef(drawn[:, :, 0].ravel(), drawn[:, :, 1].ravel())[0, 1]
    assert likeness == pytest.approx(0.64, abs=0.02)


def test_the_gate_stops_what_is_broken_and_seldom_what_is_not():
    chance = np.random.default_rng(1)
    sound = decisions(flips(300, (0.0,) * 10, 100, chance), 300, 0.05)
    broken = decisions(flips(300, (0.10, *(0.0,) * 9), 20, chance), 300, 0.05)
    assert sound["regressed"] <= 10
    assert sound["accepted"] >= 20
    assert broken["regressed"] >= 18
