"""Values between 0 and 1: the score interval with matched variance beside the bootstrap that is usual for them."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
from scipy.stats import bootstrap

from qeval.compare.clusters import design_effect
from qeval.compare.distributions import upper_quantile
from qeval.compare.interval import tango
from scripts.characteristics.studies import Array
from scripts.characteristics.tables import show

CASES = (60, 150, 400)
ALPHA = 0.05
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


def scores(share: float, low: float, high: float) -> Draw:
    """Return what draws changes of partial credit: a share of the cases moves, evenly between low and high."""
    return lambda chance, n: np.where(chance.random(n) < share, chance.uniform(low, high, n), 0.0)


WORLDS: dict[str, tuple[Draw, float]] = {
    "mean of 2 runs": (repeats(2), 0.85 * 0.08 * -0.2),
    "mean of 4 runs": (repeats(4), 0.85 * 0.08 * -0.2),
    "score, 10 % change both ways": (scores(0.10, -1.0, 0.3), 0.10 * -0.35),
    "score, 5 % lose up to a half": (scores(0.05, -0.5, 0.0), 0.05 * -0.25),
    "score, all change": (scores(1.0, -0.2, 0.16), -0.02),
}
"""What is drawn, and its true mean."""


def score_interval(moved: Array) -> tuple[float, float]:
    """Return qeval's interval of the mean change."""
    lost, won = float(-moved[moved < 0].sum()), float(moved[moved > 0].sum())
    effect = design_effect([1] * moved.size, moved.tolist(), lost + won, float((moved**2).sum()))
    return tango(lost / effect, won / effect, moved.size / effect, upper_quantile(ALPHA))


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
