"""The whole gate: how often it accepts, stops and stays undecided."""

from __future__ import annotations

from collections import Counter
from functools import cache
from typing import Any

import numpy as np

from qeval.compare.decision import decide
from qeval.compare.figures import Figures, figures
from qeval.compare.levels import Levels
from qeval.compare.multiple import holm
from qeval.compare.report import Ruling, SliceKey, Verdict
from qeval.compare.verdict import Adjusted, rule
from scripts.characteristics.tables import show
from scripts.characteristics.whole import whole_counts

SLICES = 10
FLIP_RATE = 0.08
POOL_MARGIN = 0.02
ALPHA = 0.05
SIZES = ((100, 0.10), (200, 0.05), (200, 0.08), (300, 0.05), (500, 0.05))
"""Cases a slice and the margin of a slice."""
HEAD = (
    "cases a slice",
    "margin, points",
    "nothing wrong: accepted",
    "regressed",
    "inconclusive",
    "one slice −10 points: regressed",
    "all slices −3 points: regressed",
)
Flips = np.ndarray[Any, np.dtype[np.int64]]


def flips(n: int, drops: tuple[float, ...], studies: int, chance: np.random.Generator) -> Flips:
    """Return losses and gains, [studies, slices, 2].

    A drop makes losses of gains; where they would not suffice, the flip rate rises to the drop and 2 points.
    """
    rates = [max(FLIP_RATE, drop + 0.02) if drop else FLIP_RATE for drop in drops]
    drawn = [
        chance.multinomial(n, [(rate + drop) / 2, (rate - drop) / 2, 1 - rate], studies)
        for rate, drop in zip(rates, drops, strict=True)
    ]
    return np.stack(drawn, axis=1)[:, :, :2]


def decisions(drawn: Flips, n: int, margin: float) -> Counter[str]:
    """Count the decisions of all studies: pool and slices are one family."""
    found: Counter[str] = Counter()
    margins = (POOL_MARGIN, *(margin,) * drawn.shape[1])
    for study in drawn.tolist():
        pool = (sum(losses for losses, _ in study), sum(gains for _, gains in study), n * len(study))
        judged = [judged_once(*pool), *(judged_once(*one, n) for one in study)]
        harm, gain = holm([one.p_harm for one in judged]), holm([one.p_gain for one in judged])
        rulings = [
            rule(one, Adjusted(*adjusted), delta, ALPHA)
            for one, adjusted, delta in zip(judged, zip(harm, gain, strict=True), margins, strict=True)
        ]
        verdicts = [verdict(place, ruling) for place, ruling in enumerate(rulings)]
        found[decide(faults=(), missing=(), verdicts=verdicts, limits=(), numeric_errors=0).ruling] += 1
    return found


@cache
def judged_once(losses: int, gains: int, n: int) -> Figures:
    """Return qeval's figures of a slice; the margin only enters a p-value that decides nothing here."""
    nets = (-1,) * losses + (1,) * gains + (0,) * (n - losses - gains)
    found = figures(whole_counts(losses, gains, (1,) * n, nets), 0.02, Levels(ALPHA, ALPHA))
    assert found is not None
    return found


@cache
def verdict(place: int, ruling: Ruling) -> Verdict:
    """Return a verdict of which the decision reads the place and the ruling alone."""
    one = dict.fromkeys(Verdict.model_fields)
    one |= dict.fromkeys(("n", "planned", "clusters"), 100)
    one |= dict.fromkeys(("baseline_passed", "candidate_passed", "losses", "gains", "copies"), 0)
    one |= dict.fromkeys(("changed_wrong", "changed_text"), 0)
    one |= {
        "metric": "pass",
        "slice": SliceKey(suite=f"slice-{place}" if place else None),
        "flags": (),
        "unanswered": {},
    }
    one |= {"role": "suite" if place else "pool", "level": "critical", "ruling": ruling, "reason": ruling}
    return Verdict.model_validate(one | {"margin": POOL_MARGIN, "baseline_unanswered": {}})


def main(studies: int) -> int:
    """Print the tables."""
    chance = np.random.default_rng(1)
    worlds = {"none": (0.0,) * SLICES, "one": (0.10, *(0.0,) * (SLICES - 1)), "all": (0.03,) * SLICES}
    rows = []
    for n, margin in SIZES:
        found = {name: decisions(flips(n, drops, studies, chance), n, margin) for name, drops in worlds.items()}
        shares = [f"{found['none'][d] / studies:.3f}" for d in ("accepted", "regressed", "inconclusive")]
        stopped = [f"{found[name]['regressed'] / studies:.3f}" for name in ("one", "all")]
        rows.append([str(n), f"{100 * margin:.0f}", *shares, *stopped])
    show(
        f"Share of {studies} studies: {SLICES} slices, flip rate {FLIP_RATE:.0%}, margin of the pool 2 points",
        HEAD,
        rows,
    )
    drawn = flips(500, worlds["none"], studies, chance)
    dropped = (drawn[:, :, 0] - drawn[:, :, 1]) / 500 > 0.01
    show(
        "A gate on the point estimate, 'some slice drops by over 1 point', 500 cases a slice, nothing wrong",
        ["slices", "alarms"],
        [[str(k), f"{dropped[:, :k].any(axis=1).mean():.3f}"] for k in (5, SLICES)],
    )
    return 0
