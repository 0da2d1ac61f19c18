"""Looking at the evidence during a run: false alarms, false acceptances, coverage, and how soon a run may end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial

import numpy as np
from numpy.typing import NDArray

from qeval.compare.clusters import sign_flip_tail
from qeval.compare.distributions import upper_quantile
from qeval.compare.interval import tango
from qeval.compare.mcnemar import harm_midp
from qeval.compare.power import cases_for_margin, cases_to_detect
from qeval.compare.sequential import confidence_bound
from scripts.characteristics.evidence import check, check_bound, harm, margin
from scripts.characteristics.studies import Array, Design, Looks, clusters_at, simulate
from scripts.characteristics.tables import show

ALPHA, MARGIN = 0.05, 0.03
ON_LOOKS, AT_END = ALPHA / 5, ALPHA * 4 / 5
"""How the rule in force spends alpha."""
EVERY = (160, 10)
STRUCTURES = {
    "each case by itself": Design(0.0),
    "documents of 4, each whole": Design(0.0, cluster=4, copy=0.5),
    "documents of 4, mixed": Design(0.0, cluster=4, copy=0.5, mixed=True),
}
Measure = Callable[[Looks], Array]


def over(design: Design, studies: int, *measures: Measure) -> list[Array]:
    """Return each measure over all studies; the vectorised evidence is checked on the first of them."""
    chunks: list[list[Array]] = []
    for looks in simulate(design, studies, seed=1):
        if not chunks:
            check(looks, MARGIN)
        chunks.append([measure(looks) for measure in measures])
    return [np.concatenate(parts) for parts in zip(*chunks, strict=True)]


def end_p(looks: Looks) -> Array:
    """Return the fixed-n mid-p of each whole study; of whole documents."""
    return np.array([_midp(tuple(sorted(clusters_at(looks, study, -1)[1]))) for study in range(looks.n.shape[0])])


@cache
def _midp(nets: tuple[int, ...]) -> float:
    return sign_flip_tail([net for net in nets if net]).midp


def smallest_p(looks: Looks) -> Array:
    """Return the smallest fixed-n mid-p over the looks of each study, case by case."""
    tables = np.stack([looks.losses, looks.gains], axis=2).astype(int)
    return np.array([min(_harm(*table) for table in study) for study in tables.tolist()])


_harm = cache(harm_midp)


def false_alarms(studies: int) -> list[tuple[str, float]]:
    """Print how often harm is alarmed with nothing wrong; return the rates that may not exceed alpha."""
    rows, rates = [], []
    for flip_rate in (0.05, 0.10):
        for name, structure in STRUCTURES.items():
            row, p = [f"{flip_rate:.0%}", name], np.ones(studies)
            for every in EVERY:
                design = replace(structure, flip_rate=flip_rate, every=every)
                evidence, p = over(design, studies, lambda looks: harm(looks).max(axis=1), end_p)
                rules = (evidence >= 1 / ALPHA, (evidence >= 1 / ON_LOOKS) | (p <= AT_END))
                alarms = [float(np.mean(rule)) for rule in rules]
                rates += [(f"harm, flips {flip_rate:.0%}, {name}, every {every}", alarm) for alarm in alarms]
                row += [f"{alarm:.4f}" for alarm in alarms]
            rows.append([*row, f"{np.mean(p <= ALPHA):.4f}"])
    looked = [f"look every {every}: {rule}" for every in EVERY for rule in ("e ≥ 20", "rule in force")]
    title = f"False alarms in {studies} studies of 1,600 cases, nothing wrong, where at most {ALPHA} is promised"
    show(title, ["flips", "cases", *looked, "one look at the end, mid-p ≤ 0.05"], rows)
    return rates


def peeking(studies: int) -> None:
    """Print what looking at the fixed-n test does."""
    rows = []
    for cases in (1600, 4000):
        (p,) = over(Design(0.10, cases=cases, every=50), studies, smallest_p)
        rows.append([f"{cases:,}", f"{np.mean(p <= ALPHA):.3f}"])
    show("False alarms of the fixed-n mid-p, looked at every 50 cases, flips 10 %", ["cases", "alarms"], rows)


def time_to_alarm(studies: int) -> None:
    """Print how soon true losses are alarmed, and what the split of alpha costs at the end."""
    rows = []
    for drop in (0.03, 0.05, 0.08):
        planned = cases_to_detect(0.10, drop, ALPHA)
        (evidence,) = over(Design(0.10, -drop), studies, harm)
        waits = [_wait(evidence >= threshold, 10) for threshold in (1 / ALPHA, 1 / ON_LOOKS)]
        whole, p = over(Design(0.10, -drop, cases=planned), studies, lambda looks: harm(looks).max(axis=1), end_p)
        in_force = np.mean((whole >= 1 / ON_LOOKS) | (p <= AT_END))
        rows.append([f"{100 * drop:.0f}", *waits, f"{planned}", f"{in_force:.3f}", f"{np.mean(p <= ALPHA):.3f}"])
    title = (
        "True losses, flips 10 %, a look every 10 cases: median cases to the alarm, and power with the planned cases"
    )
    head = ["loss, points", "e ≥ 20", "e ≥ 100", "fixed n planned", "power of the rule in force", "of the fixed-n test"]
    show(title, head, rows)


def _wait(reached: NDArray[np.bool_], every: int) -> str:
    first = np.where(reached.any(axis=1), (reached.argmax(axis=1) + 1) * every, np.inf)
    median = np.median(first)
    never = f" ({np.mean(np.isinf(first)):.0%} not within 1,600)" if np.isinf(first).any() else ""
    return f"{median:.0f}{never}" if np.isfinite(median) else f"over 1,600{never}"


def false_acceptances(studies: int) -> list[tuple[str, float]]:
    """Print how often a loss of exactly the margin is accepted; return the rates."""
    rows, rates = [], []
    for flip_rate in (0.05, 0.10):
        for name, structure in STRUCTURES.items():
            row = [f"{flip_rate:.0%}", name]
            for every in EVERY:
                design = replace(structure, flip_rate=flip_rate, difference=-MARGIN, every=every)
                (evidence,) = over(design, studies, lambda looks: margin(looks, MARGIN).max(axis=1))
                accepted = float(np.mean(evidence >= 1 / ALPHA))
                rates.append((f"acceptance, flips {flip_rate:.0%}, {name}, every {every}", accepted))
                row.append(f"{accepted:.4f}")
            rows.append(row)
    title = f"Acceptances of a true loss of exactly 3 points in {studies} studies, where at most {ALPHA} is promised"
    show(title, ["flips", "cases", *(f"look every {every}" for every in EVERY)], rows)
    return rates


def time_to_acceptance(studies: int) -> None:
    """Print how soon a run with nothing wrong is accepted."""
    rows = []
    for flip_rate in (0.02, 0.05, 0.10):
        (evidence,) = over(Design(flip_rate), studies, lambda looks: margin(looks, MARGIN))
        planned = cases_for_margin(flip_rate, MARGIN, ALPHA)
        rows.append([f"{flip_rate:.0%}", _wait(evidence >= 1 / ALPHA, 10), f"{planned}"])
    title = "Nothing wrong, margin 3 points, a look every 10 cases: median cases to acceptance"
    show(title, ["flips", "e ≥ 20", "fixed n planned"], rows)


def bounds(studies: int) -> list[tuple[str, float]]:
    """Print how often the confidence bound lies above the truth at some look; return the rates.

    It does where `margin_evidence` refutes the truth; `check_bound` asks the bound itself.
    """
    rows, rates = [], []
    for difference in (-0.05, 0.0, 0.05):
        design = Design(0.10, difference)
        refutes = partial(margin, delta=-difference)
        (evidence,) = over(design, studies, refutes)
        rates.append((f"bound, difference {difference}", float(np.mean((evidence >= 1 / ALPHA).any(axis=1)))))
        looks = next(simulate(design, studies, seed=1))
        check_bound(looks, difference, ALPHA)
        losses, gains, n = (float(seen[0, -1]) for seen in (looks.losses, looks.gains, looks.n))
        low = confidence_bound(*clusters_at(looks, 0, -1), ALPHA)
        fixed = tango(losses, gains, n, upper_quantile(ALPHA)).low
        points = [f"{100 * value:+.2f}" for value in ((gains - losses) / n, low, fixed)]
        rows.append([f"{100 * difference:+.0f}", f"{rates[-1][1]:.4f}", *points])
    title = (
        f"Lower bound of the difference, {studies} studies of 1,600 cases, flips 10 %, a look every 10 cases, points"
    )
    head = ["true difference", f"bound above it at some look (promised: at most {ALPHA})"]
    show(title, [*head, "first study: seen", "its bound at any look", "its fixed-n bound"], rows)
    return rates


def main(studies: int) -> int:
    """Print the tables; 1 if a rate exceeds alpha."""
    rates = false_alarms(studies)
    peeking(studies)
    time_to_alarm(studies)
    rates += false_acceptances(studies)
    time_to_acceptance(studies)
    rates += bounds(studies)
    broken = [f"{name}: {rate:.4f}" for name, rate in rates if rate > ALPHA]
    print("\n".join(f"- **above {ALPHA}**: {text}" for text in broken) or f"No rate above {ALPHA}.")
    return 1 if broken else 0
