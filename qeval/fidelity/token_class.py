"""What kind of token each position of an answer holds: digits, punctuation of JSON, a tool's name, anything else."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate

from qeval.scored import CLASS_LETTERS

_JSON = frozenset('{}[]":,')


def token_classes(pieces: Sequence[str], tools: Iterable[str]) -> str:
    """Return a letter of `CLASS_LETTERS` for each piece of text.

    >>> token_classes(['{"', 'name', '":', ' "get', '_time', '",', ' 12', '}'], ["get_time"])
    'jojttjdj'
    """
    ends = list(accumulate(map(len, pieces)))
    text = "".join(pieces)
    named = {place for tool in tools for start in _places(text, tool) for place in range(start, start + len(tool))}
    letters = []
    for piece, end in zip(pieces, ends, strict=True):
        if named.intersection(range(end - len(piece), end)):
            letters.append(CLASS_LETTERS["tool"])
        elif any(sign.isdigit() for sign in piece):
            letters.append(CLASS_LETTERS["digit"])
        elif piece.strip() and _JSON.issuperset(piece.strip()):
            letters.append(CLASS_LETTERS["json"])
        else:
            letters.append(CLASS_LETTERS["other"])
    return "".join(letters)


def _places(text: str, part: str) -> list[int]:
    found, start = [], text.find(part)
    while start >= 0:
        found.append(start)
        start = text.find(part, start + 1)
    return found
