"""When two JSON values are the same."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Mapping
from decimal import Decimal
from itertools import islice
from typing import Any


def is_choice(value: object) -> bool:
    """Return whether an expected value is `{"any_of": [...]}`: a list of accepted ones."""
    return isinstance(value, Mapping) and set(value) == {"any_of"} and isinstance(value["any_of"], list | tuple)


def equal_json(got: Any, wanted: Any, *, loose: bool = False) -> bool:  # noqa: ANN401 - any JSON value
    """Return whether a value is the wanted one: numbers by worth, text in NFC without outer blanks.

    `true` is not 1, "10" is not 10, null is nothing but null; lists compare in order, objects by all their keys.
    An `{"any_of": [...]}` anywhere in the wanted value accepts any of its items. With `loose`, text is compared
    by `loose_text`.

    >>> equal_json([4, 7, Decimal("9.5")], [4.0, 7.0, 9.5]), equal_json(True, 1), equal_json("null", None)
    (True, False, False)
    """
    if is_choice(wanted):
        return any(equal_json(got, choice, loose=loose) for choice in wanted["any_of"])
    if isinstance(wanted, bool) or isinstance(got, bool) or wanted is None or got is None:
        return got is wanted
    if isinstance(wanted, int | float | Decimal):
        return isinstance(got, int | float | Decimal) and _exact(got) == _exact(wanted)
    if isinstance(wanted, str):
        same_text = loose_text if loose else plain
        return isinstance(got, str) and same_text(got) == same_text(wanted)
    if isinstance(wanted, list | tuple):
        same = isinstance(got, list | tuple) and len(got) == len(wanted)
        return same and all(equal_json(a, b, loose=loose) for a, b in zip(got, wanted, strict=True))
    if isinstance(wanted, Mapping):
        same = isinstance(got, Mapping) and set(got) == set(wanted)
        return same and all(equal_json(got[key], wanted[key], loose=loose) for key in wanted)
    return False


def as_json(value: object, limit: int = 60) -> str:
    """Return a value as JSON for a reason, cut at `limit` characters.

    >>> as_json({"city": "Zürich", "n": Decimal("3.50")})
    '{"city": "Zürich", "n": 3.50}'
    """
    if isinstance(value, Mapping):
        text = "{" + ", ".join(f"{as_json(key)}: {as_json(item)}" for key, item in islice(value.items(), 20)) + "}"
    elif isinstance(value, list | tuple):
        text = "[" + ", ".join(as_json(item) for item in value[:20]) + "]"
    elif isinstance(value, Decimal):
        text = str(value)
    else:
        text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= limit else f"{text[:limit]}..."


def plain(text: str) -> str:
    """Return a text in NFC without blanks around it."""
    return unicodedata.normalize("NFC", text).strip()


_LOOSE = str.maketrans({**dict.fromkeys(" ,./-_*^"), "'": '"'})


def loose_text(text: str) -> str:
    """Return a text in lower case, without blanks and the marks `,./-_*^`, and with one kind of quote.

    The rule of the public BFCL checker (`standardize_string` in its ast_checker.py). A text that consists of such
    marks alone is kept, so that "-" is not "*".

    >>> loose_text("April 1, 2024") == loose_text("april 1 2024"), loose_text("3.5") == loose_text("35")
    (True, True)
    """
    normal = plain(text)
    return normal.translate(_LOOSE).lower() or normal


def _exact(number: int | float | Decimal) -> int | Decimal:
    return Decimal(repr(number)) if isinstance(number, float) else number


def kind_of(value: object) -> str:
    """Return the JSON type of a value, `number` for every number."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float | Decimal):
        return "number"
    if isinstance(value, str):
        return "string"
    return "array" if isinstance(value, list | tuple) else "object"
