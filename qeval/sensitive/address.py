"""Addresses that may hold a login or a token: how they are shown."""

from __future__ import annotations

import re
from typing import NamedTuple
from urllib.parse import parse_qsl, unquote

_AUTHORITY = re.compile(r"[^/?#]*")
_HOST = re.compile(r"(?:\[[^\]]*\]|[^:@\[\]]*)(?::\d*)?")
_HIDDEN = "***"


_SECRET_NAME = re.compile(r"(?i)pass|pwd|token|key|secret|sig|auth|cred|sas|jwt|session")


class Parts(NamedTuple):
    """An address taken apart, without being checked."""

    scheme: str
    """With `://`; empty where there is none."""
    login: str
    """User name, password or both; empty where there is none."""
    place: str
    """Host and path."""
    query: str
    fragment: str


def take_apart(address: str) -> Parts:
    """Split an address; what could be part of a password counts as that.

    >>> take_apart("https://me:pa/ss@host/x?token=T").login
    'me:pa/ss'
    """
    scheme, separator, rest = address.partition("://")
    if not separator:
        scheme, rest = "", address
    authority = _AUTHORITY.match(rest)
    head = authority[0] if authority else ""
    if "@" in head:
        at = head.rindex("@")
        login, rest = rest[:at], rest[at + 1 :]
    elif "@" in rest and _HOST.fullmatch(head) is None:
        # No port is such a text: a raw slash or question mark stands in the password.
        login, _, rest = rest.rpartition("@")
    else:
        login = ""
    place, _, fragment = rest.partition("#")
    place, _, query = place.partition("?")
    return Parts(scheme + separator, login, place, query, fragment)


def shown_address(address: str) -> str:
    """Return an address as people may see it: without a login, and without the values of its query.

    >>> shown_address("postgresql://me:secret@h/db?user=u&password=PW#x")
    'postgresql://h/db?user=***&password=***'
    """
    parts = take_apart(address)
    names = [item.partition("=")[0] for item in parts.query.split("&") if item]
    query = "&".join(f"{name}={_HIDDEN}" for name in names)
    return f"{parts.scheme}{parts.place}{'?' + query if query else ''}"


def _looks_random(value: str) -> bool:
    return len(value) >= 8 and any(char.isdigit() for char in value) and not value.isdigit()


def secrets_of(address: str) -> list[str]:
    """Return the parts of an address that no message may hold, raw and decoded."""
    parts = take_apart(address)
    password = parts.login.partition(":")[2]
    found = [parts.login if password else "", password, unquote(password), parts.query, parts.fragment]
    found += [value for name, value in parse_qsl(parts.query) if _SECRET_NAME.search(name) or _looks_random(value)]
    return [secret for secret in dict.fromkeys(found) if secret]
