"""Whether a number that a masking rule found is what it looks like: check digits, addresses, lengths."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from ipaddress import ip_address


def _luhn(text: str) -> str:
    """Return the text where its digits end in the check digit of ISO/IEC 7812-1, else nothing."""
    digits = [int(char) for char in reversed(text) if char.isdigit()]
    doubled = [digit if place % 2 == 0 else sum(divmod(2 * digit, 10)) for place, digit in enumerate(digits)]
    return text if sum(doubled) % 10 == 0 and any(digits) else ""


def _iban(text: str) -> str:
    """Return the part of the text that is an IBAN by ISO 13616: it may be followed by other words in capitals."""
    for end in _ends(text):
        compact = text[:end].replace(" ", "").replace("-", "")
        if 15 <= len(compact) <= 34 and int("".join(str(int(c, 36)) for c in compact[4:] + compact[:4])) % 97 == 1:
            return text[:end]
    return ""


def _ends(text: str) -> Iterator[int]:
    yield len(text)
    yield from (place for place in range(len(text) - 1, 0, -1) if text[place] in " -")


def _ip(text: str) -> str:
    try:
        address = ip_address(text)
    except ValueError:
        return ""
    return "" if address.is_loopback or address.is_unspecified or not any(c.isdigit() for c in text) else text


def _phone(text: str) -> str:
    return text if 8 <= sum(char.isdigit() for char in text) <= 15 else ""


CHECKS: dict[str, Callable[[str], str]] = {"luhn": _luhn, "iban": _iban, "ip": _ip, "phone": _phone}
"""By the name a rule gives: the genuine part of what its pattern found, or nothing."""
ALIKE: dict[str, Callable[[str], str]] = {
    "text": str,
    "letters": str.casefold,
    "digits": lambda text: "".join(char for char in text if char.isdigit()),
}
"""By the name a rule gives: what two ways of writing one value have in common."""
