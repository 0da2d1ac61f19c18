"""Numbers as people read them: bytes, seconds, rates, points. Formatting lives here and nowhere else.

An unknown value (`None`) is written as ``n/a``, never as a number.
"""

from __future__ import annotations

UNKNOWN = "n/a"


def size(n_bytes: int | None) -> str:
    """Format a number of bytes in decimal units.

    >>> size(114_000_000), size(999), size(None)
    ('114 MB', '999 B', 'n/a')
    """
    if n_bytes is None:
        return UNKNOWN
    for unit, scale in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if n_bytes >= scale:
            return f"{n_bytes / scale:.3g} {unit}" if n_bytes / scale < 1000 else f"{n_bytes / scale:.0f} {unit}"
    return f"{n_bytes} B"


def bits(value: float | None) -> str:
    """Format stored bits per weight.

    >>> bits(4.5), bits(None)
    ('4.50', 'n/a')
    """
    return UNKNOWN if value is None else f"{value:.2f}"


def duration(seconds: float | None) -> str:
    """Format a duration.

    >>> duration(0.25), duration(75), duration(3700), duration(None)
    ('0.2 s', '1 min 15 s', '1 h 01 min', 'n/a')
    """
    if seconds is None:
        return UNKNOWN
    if seconds < 60:
        return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest:02d} s"
    return f"{minutes // 60} h {minutes % 60:02d} min"


def percent(share: float | None, digits: int = 1) -> str:
    """Format a share in [0, 1].

    >>> percent(0.7530), percent(None)
    ('75.3 %', 'n/a')
    """
    return UNKNOWN if share is None else f"{100 * share:.{digits}f} %"


def points(difference: float | None, digits: int = 1) -> str:
    """Format a difference of two shares in percentage points, always signed.

    >>> points(-0.05), points(0.0), points(None)
    ('-5.0 pp', '+0.0 pp', 'n/a')
    """
    return UNKNOWN if difference is None else f"{100 * difference:+.{digits}f} pp"


def nats(value: float | None) -> str:
    """Format a divergence or a difference of natural logarithms, to three digits.

    >>> nats(0.147394), nats(2.4e-12), nats(0.0), nats(None)
    ('0.147', '2.4e-12', '0', 'n/a')
    """
    return UNKNOWN if value is None else f"{value:.3g}"


def p_value(p: float | None) -> str:
    """Format a p value.

    >>> p_value(0.0000002), p_value(0.0391), p_value(None)
    ('<0.0001', '0.0391', 'n/a')
    """
    if p is None:
        return UNKNOWN
    return "<0.0001" if p < 0.0001 else f"{p:.4f}"


def rate(per_second: float | None, what: str = "tok/s") -> str:
    """Format a rate.

    >>> rate(123.4), rate(None)
    ('123 tok/s', 'n/a')
    """
    if per_second is None:
        return UNKNOWN
    return f"{per_second:.3g} {what}" if per_second < 1000 else f"{per_second:.0f} {what}"
