"""Numbers on the command line, with errors that say what is allowed and what was probably meant."""

from __future__ import annotations

import math
from typing import NamedTuple

from qeval.errors import UsageError


class Share(NamedTuple):
    """Shares and probabilities that an option takes, both ends included."""

    low: float
    high: float
    unit: str = "%"
    """Of the hundredths that people write by mistake: `%` or `points`."""


def share(option: str, text: str, allowed: Share) -> float:
    """Read one share.

    Raises:
        UsageError: no number, NaN, infinite, or out of range; where hundredths were written, the share is named.

    >>> share("--margin", "0.02", Share(0.0001, 0.99))
    0.02
    """
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if allowed.low <= value <= allowed.high:
        return value
    hundredths = text.strip().removesuffix("%").strip()
    meant = _meant(hundredths, allowed)
    hint = f" Write {meant:g} for {hundredths} {allowed.unit}." if meant else ""
    raise UsageError(
        f"{option} '{text}': a number from {_plain(allowed.low)} to {_plain(allowed.high)} is needed.{hint}"
    )


def _plain(value: float) -> str:
    return f"{value:.6f}".rstrip("0").rstrip(".")


def _meant(text: str, allowed: Share) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value / 100 if value >= 1 and allowed.low <= value / 100 <= allowed.high else None


def whole(option: str, text: str, most: int) -> int:
    """Read a whole number from 1 to `most`.

    Raises:
        UsageError: it is none.
    """
    try:
        value = int(text)
    except ValueError:
        value = 0
    if not 1 <= value <= most:
        raise UsageError(f"{option} '{text}': a whole number from 1 to {most:,} is needed.")
    return value


def parts(option: str, text: str) -> list[str]:
    """Split a comma list; a value given twice counts once.

    Raises:
        UsageError: a part is empty.

    >>> parts("--n", "200, 500,200")
    ['200', '500']
    """
    found = [part.strip() for part in text.split(",")]
    if not all(found):
        raise UsageError(f"{option} '{text}': a value is missing. Write one, or several with commas between.")
    return list(dict.fromkeys(found))
