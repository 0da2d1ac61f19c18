"""Whether what a rule found is what it looks like: check digits, addresses, lengths, words that are no secret."""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from importlib import resources
from ipaddress import ip_address
from typing import Any

import regex

from qeval.errors import did_you_mean

STDNUM = "stdnum."
"""Prefix of checks by a module of the package python-stdnum, such as `stdnum.es.dni`."""
_DAY, _MONTH = r"(?:0?[1-9]|[12]\d|3[01])", r"(?:0?[1-9]|1[0-2])"
_DATE = re.compile(
    rf"(?:{_DAY}[./ -]{_MONTH}|{_MONTH}[./ -]{_DAY})[./ -](?:19|20)\d{{2}}(?!\d)"
    rf"|\d{{4}}[./-]{_MONTH}[./-]{_DAY}(?!\d)|(?:19|20)\d{{2}} {_MONTH} {_DAY}(?!\d)"
    rf"|{_DAY}[./ -]{_MONTH}[./ -]\d{{2}}\Z"
)
_PLACEHOLDER = re.compile(
    r"(?i)[*•.xX#_-]+$|[<\[({$%]|(?:your|insert|enter|example|change|replace|placeholder|todo|redacted|hidden)(?:[\W_]|$)"
    r"|(?:os|env|process|self|args|config|settings|ctx|request|params|cfg|user|this|credentials)\.|[\w.]+\("
    r"|(?=[a-z.]*_|[a-z_]*\.|(?-i:[A-Z_]*$))[a-z_.]*(?:password|passwd|secret|token|api_?key|access_?key|private_?key)[a-z_.]*$"
)
"""What stands where a secret would: stars, templates, names of settings, calls."""
_RUN = re.compile(r"[A-Za-z0-9]{12,}")
_VERSION_PART = 30
"""A dotted quad with no part above this is rather a version or a section, unless what stands before says address."""


def _luhn(found: regex.Match[str], value: str) -> str:
    """Return the value where its digits end in the check digit of ISO/IEC 7812-1, else nothing."""
    digits = [int(char) for char in reversed(value) if char.isdigit()]
    doubled = [digit if place % 2 == 0 else sum(divmod(2 * digit, 10)) for place, digit in enumerate(digits)]
    return value if sum(doubled) % 10 == 0 and any(digits) else ""


def _iban(found: regex.Match[str], value: str) -> str:
    """Return the part of the value that is an IBAN by ISO 13616: it may be followed by other words."""
    module = importlib.import_module("stdnum.iban")
    for end in _ends(value):
        compact = re.sub(r"[^A-Za-z0-9]", "", value[:end])
        if module.is_valid(compact, check_country=False):
            return value[:end]
    return ""


def _ends(text: str) -> Iterator[int]:
    yield len(text)
    yield from (place for place in range(len(text) - 1, 0, -1) if not text[place].isalnum())


def _ip(found: regex.Match[str], value: str) -> str:
    """Return an address of a network, but none of the machine itself, no mask, and nothing that is rather a version."""
    plain = re.sub(r"[\[\](){}]", "", value)
    try:
        address = ip_address(plain)
    except ValueError:
        return ""
    if address.is_loopback or address.is_unspecified or plain.startswith("255."):
        return ""
    if address.version == 6:
        return value if _is_long(plain) else ""
    is_sure = address.is_private or found.groupdict().get("sure") is not None
    return value if is_sure or any(int(part) > _VERSION_PART for part in plain.split(".")) else ""


def _is_long(address: str) -> bool:
    """Return whether an IPv6 address is no slice of an array and no name in C++: enough groups, and a digit."""
    groups = [part for part in address.split(":") if part]
    is_long = len(groups) > 2 or (len(groups) > 1 and any(len(part) > 2 for part in groups))
    return is_long and any(char.isdigit() for char in address)


def _phone(found: regex.Match[str], value: str) -> str:
    return value if 7 <= sum(char.isdigit() for char in value) <= 15 and not _DATE.match(value) else ""


def _numbered(found: regex.Match[str], value: str) -> str:
    """Return an identifier of a person where digits are in it, and it is no date."""
    return value if sum(char.isdigit() for char in value) >= 4 and not _DATE.match(value.strip()) else ""


def _token(found: regex.Match[str], value: str) -> str:
    """Return a key where a part of it is random: twelve characters in a row, with a digit or in both cases."""
    for run in _RUN.findall(value):
        if any(char.isdigit() for char in run) or (run != run.lower() and run != run.upper()):
            return value
    return ""


def _secret(found: regex.Match[str], value: str) -> str:
    """Return what follows a word such as "password" where it is a value and no word, template or code."""
    if _PLACEHOLDER.match(value) or value.strip(" .,;:!?)\"'").casefold() in _no_secrets():
        return ""
    groups = found.groupdict()
    if groups.get("sure") is not None:
        return value
    odd = any(char.isdigit() for char in value) or bool(re.search(r"[^\w\s.,;:!?'\"()-]", value))
    if groups.get("said") is not None:
        return value if any(char.isdigit() for char in value) else ""
    return value if odd or re.match(r"[\s\"'.,;]*(?:$|\n)", found.string[found.end() :]) else ""


_OWN: Mapping[str, Callable[[regex.Match[str], str], str]] = {
    "luhn": _luhn,
    "iban": _iban,
    "ip": _ip,
    "phone": _phone,
    "numbered": _numbered,
    "token": _token,
    "secret": _secret,
}


def genuine(check: str, found: regex.Match[str], value: str) -> str:
    """Return the part of a value, from its start, that passes a check; empty where none does.

    Args:
        check: one of our own names, or `stdnum.<country>.<number>`.
        found: what the rule found, for its other groups and what is around it.
        value: the part of it that would be replaced.
    """
    if not check.startswith(STDNUM):
        return _OWN[check](found, value)
    return value if _module(check).is_valid(value) else ""


def known(check: str) -> str:
    """Return the name of a check.

    Raises:
        ValueError: there is no such check.
    """
    if check.startswith(STDNUM):
        try:
            is_there = callable(getattr(_module(check), "is_valid", None))
        except ImportError:
            is_there = False
        if not is_there:
            raise ValueError(
                f"python-stdnum has no '{check.removeprefix(STDNUM)}'; it has numbers such as stdnum.es.dni"
            )
    elif check not in _OWN:
        hint = did_you_mean(check, _OWN)
        raise ValueError(f"no check '{check}'.{hint} Allowed: {', '.join(_OWN)}, or {STDNUM}<country>.<number>")
    return check


@cache
def _no_secrets() -> frozenset[str]:
    """Words that follow `password:` or `secret =` in sentences, schemas and code."""
    return frozenset((resources.files("qeval.sensitive") / "no_secrets.txt").read_text("utf-8").split())


@cache
def _module(check: str) -> Any:  # noqa: ANN401 - a module of a package without types
    return importlib.import_module(check)


ALIKE: Mapping[str, Callable[[str], str]] = {
    "text": str,
    "letters": str.casefold,
    "digits": lambda text: "".join(char for char in text.casefold() if char.isalnum()),
}
"""By the name a rule gives: what two ways of writing one value have in common."""
