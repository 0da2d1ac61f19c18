"""Slots: `{city}` in a text or in a template of JSON stands for a value drawn from the bank `city`.

A number after the name, `{city2}`, asks for another value of the same bank. What a text says and what the JSON holds
may differ: a date is said in words and written as YYYY-MM-DD.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from qeval.suites.draw import Draw

SLOT = re.compile(r"\{(\w+)\}")
MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip


class Drawn(NamedTuple):
    """A drawn value, as JSON holds it and as a text says it."""

    value: Any
    shown: str


def draw_value(draw: Draw, bank: Mapping[str, Any], without: Collection[Any] = ()) -> Drawn:
    """Draw a value from a bank.

    Args:
        draw: where the choice comes from.
        bank: one of `values` or `enum` (a list of words), `range` (whole numbers from and to), `tenths` (the same,
            divided by ten), `said` (value -> how a text says it), `date` or `time` (said in words; RFC 3339 in JSON),
            `uuid` (version 4).
        without: words of `values` and `enum` that must not be drawn.
    """
    if "range" in bank:
        number = draw.whole(*bank["range"])
        return Drawn(number, str(number))
    if "tenths" in bank:
        tenths = draw.whole(*bank["tenths"]) / 10
        return Drawn(tenths, str(tenths))
    if "said" in bank:
        value = draw.pick(list(bank["said"]))
        return Drawn(value, bank["said"][value])
    if "date" in bank:
        year, month, day = draw.whole(2015, 2024), draw.whole(1, 12), draw.whole(1, 28)
        return Drawn(f"{year}-{month:02d}-{day:02d}", f"{day} {MONTHS[month - 1]} {year}")
    if "time" in bank:
        hour, minute = draw.whole(0, 23), draw.whole(0, 59)
        shown = f"{hour % 12 or 12}:{minute:02d} {'am' if hour < 12 else 'pm'}"
        return Drawn(f"{hour:02d}:{minute:02d}:00Z", shown)
    if "uuid" in bank:
        digits = "".join(f"{draw.whole(0, 15):x}" for _ in range(30))
        uuid = f"{digits[:8]}-{digits[8:12]}-4{digits[12:15]}-a{digits[15:18]}-{digits[18:]}"
        return Drawn(uuid, uuid)
    word = draw.pick([word for word in bank.get("values") or bank["enum"] if word not in without])
    return Drawn(word, word)


def slots_of(template: Any) -> Iterator[str]:  # noqa: ANN401 - any JSON value
    """Yield the names of a template's slots, in its order.

    >>> list(slots_of({"to": "{city}", "items": ["{food}", 3]}))
    ['city', 'food']
    """
    if isinstance(template, str):
        yield from SLOT.findall(template)
    elif isinstance(template, Mapping):
        for key, inner in template.items():
            yield from slots_of(key)
            yield from slots_of(inner)
    elif isinstance(template, list):
        for inner in template:
            yield from slots_of(inner)


def draw_slots(draw: Draw, names: Iterable[str], banks: Mapping[str, Any]) -> dict[str, Drawn]:
    """Draw a value for each slot; slots of one bank get different values."""
    drawn: dict[str, Drawn] = {}
    for name in dict.fromkeys(names):
        bank = name.rstrip("0123456789")
        others = [drawn[other].value for other in drawn if other.rstrip("0123456789") == bank]
        found = draw_value(draw, banks[bank])
        while found.value in others:
            found = draw_value(draw, banks[bank])
        drawn[name] = found
    return drawn


def fill_text(template: str, drawn: Mapping[str, Drawn]) -> str:
    """Return a text with its slots filled as texts say the values."""
    return SLOT.sub(lambda slot: drawn[slot[1]].shown, template)


def fill_json(template: Any, drawn: Mapping[str, Drawn]) -> Any:  # noqa: ANN401 - any JSON value
    """Return a template of JSON filled with values; a text that is one slot and no more becomes the value itself.

    >>> fill_json({"n": "{count}", "id": "no. {count}"}, {"count": Drawn(3, "three")})
    {'n': 3, 'id': 'no. 3'}
    """
    if isinstance(template, str):
        whole = SLOT.fullmatch(template)
        return drawn[whole[1]].value if whole else SLOT.sub(lambda slot: str(drawn[slot[1]].value), template)
    if isinstance(template, Mapping):
        return {fill_json(key, drawn): fill_json(inner, drawn) for key, inner in template.items()}
    if isinstance(template, list):
        return [fill_json(inner, drawn) for inner in template]
    return template
