"""Plan a suite before it is run: how many cases it takes, and what a number of cases can show.

Two questions, and each has its own correction for many slices:

* *Nothing is wrong: do all slices hold?* Every slice must exclude its margin, each at level alpha (an
  intersection-union test, no correction). For all S of them to do so with probability `power`, each needs
  `power^(1/S)`.
* *There is a loss as large as the margin: does it raise the alarm?* McNemar's tests of the S slices and the pool are
  one Holm family; planned is its hardest step, level `alpha / (S + 1)`. A lone slice is the pool: one test.

Numbers of cases are normal approximations (see `qeval.compare.power`), as in every report. The chance that all slices
hold is exact up to 400 expected flips (see `qeval.compare.holding`); with few flips it is lower than the approximation
promises, which is why it stands beside. Student's t, which intervals take with under 40 clusters, is left out of all.

Sources: Miller 2024 (arXiv:2411.00640) for power; Kish 1965 for the design effect.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from qeval.compare.clusters import FEWEST
from qeval.compare.distributions import upper_quantile
from qeval.compare.holding import holding_chance
from qeval.compare.interval import tango
from qeval.compare.power import POWER, cases_for_alarm, cases_for_margin, smallest_detectable, smallest_margin
from qeval.strict import Strict


class Design(NamedTuple):
    """What is asked of a suite. Shares and probabilities in (0, 1), not checked here."""

    margin: float = 0.02
    slices: int = 1
    """Slices of equal size that must all hold."""
    alpha: float = 0.05
    power: float = POWER
    cluster_size: int = 1
    """Cases that share a document, a template or a translation source."""
    correlation: float = 0.0
    """Of the results within a cluster, 0 to 1."""

    @property
    def design_effect(self) -> float:
        """1 + (M - 1) R: how many clustered cases say as much as one independent case."""
        return 1 + (self.cluster_size - 1) * self.correlation

    @property
    def power_each(self) -> float:
        """The probability with which each slice must hold so that all do with probability `power`."""
        return float(self.power ** (1 / self.slices))

    @property
    def alarm_alpha(self) -> float:
        """The level of Holm's hardest step."""
        return self.alpha if self.slices == 1 else self.alpha / (self.slices + 1)


class CasesNeeded(Strict):
    """Cases a slice, at one flip rate."""

    flip_rate: float
    to_hold: int
    """With so many, every slice excludes a loss beyond the margin if nothing is wrong."""
    chance: float
    """The probability, exact, that all slices hold with so many cases."""
    to_alarm: int
    """With so many, a true loss as large as the margin raises the alarm in its slice."""


class Shown(Strict):
    """What a number of cases a slice can show, at one flip rate."""

    flip_rate: float
    n: int
    smallest_detectable: float | None
    """The smallest true drop that raises the alarm; None where even losses alone would not, or with few clusters."""
    smallest_margin: float | None
    """The smallest margin that so many cases can be planned to hold; None where there is none, or few clusters."""
    half_width: float
    """Of the interval, to expect with nothing wrong."""
    chance: float
    """The probability that all slices exclude the design's margin if nothing is wrong."""


def plan_cases(flip_rate: float, design: Design) -> CasesNeeded:
    """Return the cases a slice that a design takes; never so few that under 10 clusters remain.

    >>> plan_cases(0.10, Design()).to_hold
    1546
    """
    effect, fewest = design.design_effect, FEWEST * design.cluster_size
    to_hold = cases_for_margin(flip_rate, design.margin, design.alpha, design.power_each)
    to_alarm = cases_for_alarm(flip_rate, design.margin, design.alarm_alpha, design.power)
    needed = max(inflated(to_hold, effect), fewest)
    return CasesNeeded(
        flip_rate=flip_rate,
        to_hold=needed,
        chance=_all_hold(flip_rate, needed, design),
        to_alarm=max(inflated(to_alarm, effect), fewest),
    )


def plan_size(flip_rate: float, n: int, design: Design) -> Shown:
    """Return what n cases a slice can show of a design.

    >>> shown = plan_size(0.10, 500, Design(margin=0.03))
    >>> round(100 * shown.smallest_detectable, 2), round(100 * shown.smallest_margin, 2)
    (3.51, 3.52)
    """
    counted = n / design.design_effect
    judged = n >= FEWEST * design.cluster_size
    flips = counted * flip_rate
    return Shown(
        flip_rate=flip_rate,
        n=n,
        smallest_detectable=smallest_detectable(flip_rate, counted, design.alarm_alpha, design.power)
        if judged
        else None,
        smallest_margin=held_margin(flip_rate, counted, design.alpha, design.power_each) if judged else None,
        half_width=tango(flips / 2, flips / 2, counted, upper_quantile(design.alpha)).high,
        chance=_all_hold(flip_rate, n, design),
    )


def held_margin(flip_rate: float, n: float, alpha: float, power: float) -> float | None:
    """Return the smallest margin that n pairs can be planned to hold, not under the one that no flips at all leave.

    >>> held_margin(0.10, 1546, 0.05, 0.8) <= 0.02, held_margin(1.0, 5, 0.05, 0.8) is None
    (True, True)
    """
    z_squared = upper_quantile(alpha) ** 2
    margin = max(smallest_margin(flip_rate, n, alpha, power), z_squared / (n + z_squared))
    return margin if margin < 1 else None


def inflated(pairs: int, design_effect: float) -> int:
    """Return the clustered cases that say as much as so many independent pairs.

    >>> inflated(100, 1.8), inflated(687, 1.0)
    (180, 687)
    """
    return math.ceil(pairs * design_effect * (1 - 1e-12))


def _all_hold(flip_rate: float, n: int, design: Design) -> float:
    if n < FEWEST * design.cluster_size:
        return 0.0
    counted = math.floor(n / design.design_effect * (1 + 1e-12))
    return holding_chance(flip_rate, counted, design.margin, design.alpha) ** design.slices
