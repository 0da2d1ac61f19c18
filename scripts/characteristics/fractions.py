"""Values between 0 and 1: the score interval with matched variance beside the bootstrap that is usual for them."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
from scipy.stats import bootstrap

from qeval.compare.counts import Counts
from qeval.compare.figures import figures
from qeval.compare.levels import Levels
from scripts.characteristics.studies import Array
from scripts.characteristics.tables import show

CASES = (60, 150, 400)
ALPHA, MARGIN = 0.05, 0.02
RESAMPLES = 2_000

Draw = Callable[[np.random.Generator, int], Array]


def repeats(runs: int) -> Draw:
    """Return what draws changes of means over runs: 15 % of the cases unstable, 8 % of the others flipped."""

    def draw(chance: np.random.Generator, n: int) -> Array:
        stable = chance.random(n) < 0.85
        before = np.where(stable, chance.random(n) < 0.6, chance.random(n))
        after = np.where(stable & (chance.random(n) < 0.08), 1 - before, before)
        moved: Array = (chance.binomial(runs, after) - chance.binomial(runs, before)) / runs
        return moved

    return draw


def rare_losses(runs: int, share: float, unstable: float) -> Draw:
    """Return what draws means over runs: a share of the cases is lost whole, others pass 19 times of 20."""

    def draw(chance: np.random.Generator, n: int) -> Array:
        lost, shaky = chance.random(n) < share, chance.random(n) < unstable
        rate = np.where(shaky, 0.95, 1.0)
        before, after = chance.binomial(runs, rate), np.where(lost, 0, chance.binomial(runs, rate))
        moved: Array = (after - before) / runs
        return moved

    return draw


def scores(share: float, low: float, high: float) -> Draw:
    """Return what draws changes of partial credit: a share of the cases moves, evenly between low and high."""
    return lambda chance, n: np.where(chance.random(n) < share, chance.uniform(low, high, n), 0.0)


WORLDS: dict[str, tuple[Draw, float]] = {
    "mean of 2 runs": (repeats(2), 0.85 * 0.08 * -0.2),
    "mean of 4 runs": (repeats(4), 0.85 * 0.08 * -0.2),
    "mean of 5 runs, 2 % lost whole": (rare_losses(5, 0.02, 0.05), -0.02 * (0.95 * 1.0 + 0.05 * 0.95)),
    "score, 10 % change both ways": (scores(0.10, -1.0, 0.3), 0.10 * -0.35),
    "score, 5 % lose up to a half": (scores(0.05, -0.5, 0.0), 0.05 * -0.25),
    "score, all change": (scores(1.0, -0.2, 0.16), -0.02),
}
"""What is drawn, and its true mean."""


def score_interval(moved: Array) -> tuple[float, float]:
    """Return qeval's interval of the mean change."""
    counts = Counts(
        planned=moved.size,
        graded=moved.size,
        n=moved.size,
        baseline_passed=0.0,
        candidate_passed=0.0,
        losses=int((moved < 0).sum()),
        gains=int((moved > 0).sum()),
        lost=float(-moved[moved < 0].sum()),
        won=float(moved[moved > 0].sum()),
        squares=float((moved**2).sum()),
        changed_wrong=0,
        changed_text=0,
        cluster_sizes=(1,) * moved.size,
        cluster_nets=tuple(moved.tolist()),
        unanswered={},
        baseline_unanswered={},
    )
    found = figures(counts, MARGIN, Levels(ALPHA, ALPHA))
    assert found is not None
    return found.low, found.high


def bootstrap_interval(moved: Array) -> tuple[float, float]:
    """Return the bias-corrected accelerated bootstrap's; of equal changes it has none and counts as missing."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = bootstrap((moved,), np.mean, confidence_level=1 - 2 * ALPHA, n_resamples=RESAMPLES, rng=1)
    return float(found.confidence_interval.low), float(found.confidence_interval.high)


def main(studies: int) -> int:
    """Print the table."""
    chance = np.random.default_rng(1)
    rows = []
    for world, (draw, truth) in WORLDS.items():
        for n in CASES:
            drawn = [draw(chance, n) for _ in range(studies)]
            row = [world, str(n)]
            for interval in (score_interval, bootstrap_interval):
                ends = [interval(moved) for moved in drawn]
                row += [
                    f"{sum(low <= truth <= high for low, high in ends) / studies:.3f}",
                    f"{sum(low > truth for low, _ in ends) / studies:.3f}",
                ]
            rows.append(row)
    show(
        f"Coverage of the 90 % interval in {studies} studies, and how often it lies above the truth (0.05 promised)",
        ("values", "cases", "score: covers", "too high", "bootstrap: covers", "too high"),
        rows,
    )
    return 0
