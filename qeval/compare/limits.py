"""Hard limits, compared in whole counts: 0.02 of 100 cases is 2 cases, whatever binary floats make of 0.80 - 0.78."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import NamedTuple

from qeval.compare.counts import Counts, count
from qeval.compare.pairs import Scored
from qeval.compare.policy import Limits
from qeval.compare.report import LimitResult, SliceKey
from qeval.compare.slices import members, parse_slice


class Checked(NamedTuple):
    """The outcome of all limits of a policy for one candidate."""

    results: tuple[LimitResult, ...]
    without_data: tuple[str, ...]
    """Names of slices that a limit names and the records lack."""


def check_limits(limits: Limits, scored: Sequence[Scored]) -> Checked:
    """Check every limit over the pairs on `pass`."""
    results, without_data = [], []
    for name, key, allowed in _written(limits):
        counts = count(scored[i] for i in members(key, scored))
        if counts.planned == 0:
            without_data.append(key.label)
            continue
        broken, text = _CHECKS[name](counts, exact(allowed))
        results.append(LimitResult(name=name, slice=key, broken=broken, text=f"{text} ({name} {allowed:g})"))
    return Checked(tuple(results), tuple(dict.fromkeys(without_data)))


def exact(threshold: float) -> Fraction:
    """Return the threshold as it was written: 0.02 is 1/50, not the nearest binary number.

    >>> exact(0.02) * 100
    Fraction(2, 1)
    """
    return Fraction(repr(threshold))


def _written(limits: Limits) -> Iterable[tuple[str, SliceKey, float]]:
    for name in ("max_net_loss", "min_pass_rate", "min_scored"):
        thresholds: dict[str, float] = getattr(limits, name) or {}
        for slice_name, allowed in thresholds.items():
            yield name, parse_slice(slice_name), allowed


def _net_loss(counts: Counts, allowed: Fraction) -> tuple[bool, str]:
    net, most = _cases(counts.baseline_passed - counts.candidate_passed), math.floor(allowed * counts.n)
    return net > most, f"net loss {net:g} of {counts.n} cases, allowed {most}"


def _pass_rate(counts: Counts, allowed: Fraction) -> tuple[bool, str]:
    passed, least = _cases(counts.candidate_passed), math.ceil(allowed * counts.n)
    return passed < least, f"passes {passed:g} of {counts.n} cases, needed {least}"


def _cases(total: float) -> float:
    """Return a sum of means over repeats without what binary fractions leave in its last digits."""
    return round(total, 6)


def _scored(counts: Counts, allowed: Fraction) -> tuple[bool, str]:
    least = math.ceil(allowed * counts.planned)
    return counts.graded < least, f"{counts.graded} of {counts.planned} cases scored in both, needed {least}"


_CHECKS = {"max_net_loss": _net_loss, "min_pass_rate": _pass_rate, "min_scored": _scored}
