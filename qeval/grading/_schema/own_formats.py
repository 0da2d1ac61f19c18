"""Formats that jsonschema's own checkers read too loosely or too slowly: times (RFC 3339), e-mail, UUID, IRI."""

from __future__ import annotations

import ipaddress
from datetime import date, timedelta
from urllib.parse import quote

import regex

_DATE = regex.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})")
_TIME = regex.compile(
    r"([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.[0-9]+)?(?:[Zz]|([+-])([0-9]{2}):([0-9]{2}))",
)
_UUID = regex.compile(r"[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}")
_ATOM = r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+"
_LOCAL = regex.compile(rf'{_ATOM}(?:\.{_ATOM})*|"(?:[^"\\\n\r]|\\[^\n\r])*"')
_LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_DOMAIN = regex.compile(rf"{_LABEL}(?:\.{_LABEL})*")


def is_date(text: str) -> bool:
    """Return whether a text is a full-date that the calendar knows.

    >>> is_date("2024-02-29"), is_date("2023-02-29"), is_date("2024-2-9")
    (True, False, False)
    """
    found = _DATE.fullmatch(text)
    if found is None:
        return False
    try:
        date(*(int(part) for part in found.groups()))
    except ValueError:
        return False
    return True


def is_time(text: str) -> bool:
    """Return whether a text is a full-time; second 60 is a leap second and exists at 23:59 UTC only.

    >>> is_time("08:30:06Z"), is_time("15:59:60-08:00"), is_time("08:30:06"), is_time("22:59:60Z")
    (True, True, False, False)
    """
    found = _TIME.fullmatch(text)
    if found is None:
        return False
    hour, minute, second = (int(part) for part in found.groups()[:3])
    offset_hour, offset_minute = int(found[5] or 0), int(found[6] or 0)
    if hour > 23 or minute > 59 or second > 60 or offset_hour > 23 or offset_minute > 59:
        return False
    offset = timedelta(hours=offset_hour, minutes=offset_minute) * (-1 if found[4] == "-" else 1)
    in_utc = (timedelta(hours=hour, minutes=minute) - offset) % timedelta(days=1)
    return second < 60 or in_utc == timedelta(hours=23, minutes=59)


def is_date_time(text: str) -> bool:
    r"""Return whether a text is an RFC 3339 date-time.

    >>> is_date_time("1998-12-31T23:59:60Z"), is_date_time("2024-01-01T00:00:00Z\n")
    (True, False)
    """
    return len(text) > 10 and text[10] in "Tt" and is_date(text[:10]) and is_time(text[11:])


def is_uuid(text: str) -> bool:
    """Return whether a text is a UUID in its usual form.

    >>> is_uuid("2eb8aa08-aa98-11ea-b4aa-73b441d16380"), is_uuid("2eb8aa08aa9811eab4aa73b441d16380")
    (True, False)
    """
    return _UUID.fullmatch(text) is not None


def is_email(text: str) -> bool:
    """Return whether a text is one RFC 5321 mailbox.

    >>> is_email("a.b@example.com"), is_email("a..b@example.com"), is_email("a@[127.0.0.300]")
    (True, False, False)
    """
    local, _, domain = text.rpartition("@")
    if _LOCAL.fullmatch(local) is None:
        return False
    if domain.startswith("[") and domain.endswith("]"):
        return _is_address(domain[1:-1])
    return len(domain) <= 253 and _DOMAIN.fullmatch(domain) is not None


def is_iri(text: str) -> bool:
    r"""Return whether a text is an IRI: a URI once its letters beyond ASCII are percent-encoded (RFC 3987, 3.1).

    >>> is_iri("http://ƒøø.ßår/?∂éœ=πîx"), is_iri(r"\\WINDOWS\filëßåré"), is_iri("âππ")
    (True, False, False)
    """
    from rfc3986_validator import validate_rfc3986  # type: ignore[import-untyped]

    return bool(validate_rfc3986(_as_uri(text), rule="URI"))


def is_iri_reference(text: str) -> bool:
    """Return whether a text is an IRI or relative to one."""
    from rfc3986_validator import validate_rfc3986

    return bool(validate_rfc3986(_as_uri(text), rule="URI_reference"))


def _as_uri(text: str) -> str:
    return "".join(quote(character, errors="replace") if character >= "\xa0" else character for character in text)


def _is_address(literal: str) -> bool:
    try:
        if literal.lower().startswith("ipv6:"):
            ipaddress.IPv6Address(literal[5:])
        else:
            ipaddress.IPv4Address(literal)
    except ValueError:
        return False
    return True


CHECKERS = {
    "date": is_date,
    "time": is_time,
    "date-time": is_date_time,
    "uuid": is_uuid,
    "email": is_email,
    "iri": is_iri,
    "iri-reference": is_iri_reference,
}
"""By the name of the format."""
