"""At which level each claim is made, and whether its evidence may have been looked at before the end."""

from __future__ import annotations

from typing import NamedTuple

from qeval.record import Stopping

LOOKS_SHARE = 0.2
"""Share of alpha that is spent on looks along the way where a run may end early; the rest is left for the end."""


class Levels(NamedTuple):
    """Levels of the two claims."""

    harm: float
    """Of the alarm "some loss", and of "some gain"."""
    margin: float
    """Of "no loss beyond the margin": each end of the interval excludes this much."""
    anytime: bool = False
    """The run was ended by what it showed: only evidence that may be looked at at any time counts."""
    claims_margin: bool = True
    """Whether "no loss beyond the margin" may be claimed."""


def levels(alpha: float, stopping: Stopping | None) -> Levels:
    """Split alpha between the looks and the end, for each claim that could have ended the run.

    The chance of a false alarm is then at most `alpha` over looks and end together, and so is that of a false
    acceptance. A run that was ended for harm, in which acceptance had no share of the looks, accepts nothing.

    >>> levels(0.05, None)
    Levels(harm=0.05, margin=0.05, anytime=False, claims_margin=True)
    >>> at = levels(0.05, Stopping(on=("harm",)))
    >>> round(at.harm, 3), at.margin
    (0.04, 0.05)
    >>> at = levels(0.05, Stopping(on=("harm",), ended="harm"))
    >>> round(at.harm, 3), at.anytime, at.claims_margin
    (0.01, True, False)
    """
    if stopping is None:
        return Levels(alpha, alpha)
    if stopping.ended is not None:
        look = alpha * LOOKS_SHARE
        return Levels(look, look, anytime=True, claims_margin="acceptance" in stopping.on)
    rest = alpha * (1 - LOOKS_SHARE)
    return Levels(rest if "harm" in stopping.on else alpha, rest if "acceptance" in stopping.on else alpha)
