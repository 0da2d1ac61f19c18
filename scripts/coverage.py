"""Coverage of the interval and size of the harm alarm, by exact enumeration of every table that can come up.

    python scripts/coverage.py

A pair is a loss, a gain or neither; all tables (losses, gains) of n pairs that weigh anything are judged by qeval's
own functions and added up with their probabilities, so nothing here is simulated. Prints Markdown tables and the
claims; exit code 1 if one does not hold.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from qeval.compare.distributions import upper_quantile
from qeval.compare.interval import tango, tango_score
from qeval.compare.mcnemar import harm_midp

PAIRS = (20, 30, 40, 60, 100, 200, 300, 500)
FLIP_RATES = (0.02, 0.05, 0.10, 0.20, 0.30, 0.40)
LOSS_SHARES = (0.5, 0.6, 0.75, 0.9, 1.0)
"""Losses among the flips. Shares under one half mirror these."""
ALPHA = 0.05
Z = upper_quantile(0.025)
NEGLIGIBLE = 1e-13
"""Tables less likely than this are left out: together under 1e-8 at 500 pairs, and counted as not covered."""


class Cell(NamedTuple):
    """One true state of affairs and the share of tables whose interval holds the true difference."""

    n: int
    flip_rate: float
    loss_share: float
    coverage: float

    @property
    def expected_flips(self) -> float:
        """Discordant pairs on average."""
        return self.n * self.flip_rate


class Size(NamedTuple):
    """How often the harm alarm sounds with nothing wrong."""

    n: int
    flip_rate: float
    size: float


def tables(n: int, flip_rate: float, loss_share: float) -> Iterator[tuple[int, int, float]]:
    """Yield losses, gains and their probability."""
    for flips, p_flips in enumerate(_binomial(n, flip_rate)):
        if p_flips > NEGLIGIBLE:
            for losses, p_losses in enumerate(_binomial(flips, loss_share)):
                if p_flips * p_losses > NEGLIGIBLE:
                    yield losses, flips - losses, float(p_flips * p_losses)


def _binomial(n: int, p: float) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    if p == 1:
        every: np.ndarray[tuple[int], np.dtype[np.float64]] = np.eye(n + 1)[n]
        return every
    log_factorial = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, n + 1)))])
    k = np.arange(n + 1)
    chosen = log_factorial[n] - log_factorial - log_factorial[::-1]
    found: np.ndarray[tuple[int], np.dtype[np.float64]] = np.exp(chosen + k * np.log(p) + (n - k) * np.log1p(-p))
    return found


def coverage(n: int, flip_rate: float, loss_share: float) -> float:
    """Return the probability that the 95 % interval holds the true difference."""
    truth = flip_rate * (1 - 2 * loss_share)
    return sum(
        p for lost, gained, p in tables(n, flip_rate, loss_share) if abs(tango_score(lost, gained, n, truth)) <= Z
    )


def size(n: int, flip_rate: float) -> float:
    """Return the probability of mid-p <= alpha where a flip is as likely a loss as a gain."""
    return sum(p for lost, gained, p in tables(n, flip_rate, 0.5) if harm_midp(lost, gained) <= ALPHA)


def cells(pairs: Sequence[int] = PAIRS) -> list[Cell]:
    """Compute the coverage of the whole grid."""
    return [
        Cell(n, rate, share, coverage(n, rate, share)) for n in pairs for rate in FLIP_RATES for share in LOSS_SHARES
    ]


def sizes(pairs: Sequence[int] = PAIRS) -> list[Size]:
    """Compute the size of the harm alarm over the whole grid."""
    return [Size(n, rate, size(n, rate)) for n in pairs for rate in FLIP_RATES]


def disagreements(n: int, flip_rate: float, loss_share: float) -> int:
    """Count the tables where |z(D)| <= 1.96 and lying between the ends of `tango()` say different things."""
    truth = flip_rate * (1 - 2 * loss_share)
    wrong = 0
    for losses, gains, _ in tables(n, flip_rate, loss_share):
        low, high = tango(losses, gains, n, Z)
        wrong += (low <= truth <= high) != (abs(tango_score(losses, gains, n, truth)) <= Z)
    return wrong


def claims(found: Sequence[Cell], alarms: Sequence[Size]) -> list[tuple[str, bool]]:
    """State what is promised, and whether it holds."""
    worst = min(found, key=lambda cell: cell.coverage)
    mean = sum(cell.coverage for cell in found) / len(found)
    widest = max((cell for cell in found if cell.expected_flips >= 10), key=lambda cell: cell.coverage)
    largest = max(alarms, key=lambda cell: cell.size)
    return [
        (f"coverage at least 92.5 % in every cell; worst {_where(worst)}", worst.coverage >= 0.925),
        (f"coverage at least 94 % on average; {100 * mean:.2f} %", mean >= 0.94),
        (
            f"coverage at most 97.5 % where 10 or more flips are expected; widest {_where(widest)}",
            widest.coverage <= 0.975,
        ),
        (
            f"size of the harm alarm at most 5 % in every cell; largest {100 * largest.size:.2f} % "
            f"(n = {largest.n}, flip rate {largest.flip_rate:.0%})",
            largest.size <= ALPHA,
        ),
    ]


def _where(cell: Cell) -> str:
    return (
        f"{100 * cell.coverage:.2f} % (n = {cell.n}, flip rate {cell.flip_rate:.0%}, "
        f"{cell.loss_share:.0%} of the flips are losses)"
    )


def main() -> int:
    """Print the tables and the claims; 1 if a claim fails."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.parse_args()
    found, alarms = cells(), sizes()
    print("Coverage of the 95 % interval, %: lowest and highest over the shares of losses\n")
    _print_grid({(n, r): _range([c.coverage for c in found if (c.n, c.flip_rate) == (n, r)]) for n, r, _ in alarms})
    print("\nCoverage, %, where every flip is a loss\n")
    _print_grid({(c.n, c.flip_rate): f"{100 * c.coverage:.1f}" for c in found if c.loss_share == 1})
    print("\nSize of the harm alarm (mid-p at most 5 %), %\n")
    _print_grid({(n, rate): f"{100 * share:.2f}" for n, rate, share in alarms})
    sample = [(20, 0.4, 0.75), (40, 0.1, 1.0), (100, 0.05, 0.5), (200, 0.2, 0.6)]
    checked = [(text, holds) for text, holds in claims(found, alarms)]
    checked.append(
        ("the score and the ends of the interval agree (4 cells)", not any(disagreements(*c) for c in sample))
    )
    print()
    for text, holds in checked:
        print(f"- {'holds' if holds else '**FAILS**'}: {text}")
    return 0 if all(holds for _, holds in checked) else 1


def _range(values: Sequence[float]) -> str:
    return f"{100 * min(values):.1f}–{100 * max(values):.1f}"


def _print_grid(texts: dict[tuple[int, float], str]) -> None:
    print("| n | " + " | ".join(f"flips {rate:.0%}" for rate in FLIP_RATES) + " |")
    print("|---" * (len(FLIP_RATES) + 1) + "|")
    for n in PAIRS:
        print(f"| {n} | " + " | ".join(texts[n, rate] for rate in FLIP_RATES) + " |")


if __name__ == "__main__":
    sys.exit(main())
