"""Halves of characters: code points that no UTF-8 text can hold, and that no tokenizer reads."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

_HALF = re.compile("[\ud800-\udfff]")


def half_characters(value: object, path: str = "") -> Iterator[str]:
    r"""Yield where a JSON value holds half a character (a lone surrogate), and which.

    >>> list(half_characters({"messages": [{"content": "a\ud83d"}]}))
    ['messages.0.content (\\ud83d, character 2)']
    """
    if isinstance(value, str):
        found = _HALF.search(value)
        if found:
            yield f"{path} (\\u{ord(found[0]):04x}, character {found.start() + 1})"
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            # A name is shown without what cannot be shown.
            place = f"{path}.{key}".lstrip(".").encode("utf-8", "backslashreplace").decode()
            yield from half_characters(key, f"the name {place}")
            yield from half_characters(inner, place)
    elif isinstance(value, list | tuple):
        for index, inner in enumerate(value):
            yield from half_characters(inner, f"{path}.{index}".lstrip("."))
