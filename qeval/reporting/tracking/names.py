"""Metric names that every MLflow server accepts, from names that people wrote.

A server refuses a whole batch for one bad name. Legal are letters, digits, ``_ - . : /`` and blanks, at most 250
characters, no empty, ``.`` or ``..`` segment; and since some stores keep a metric as a file, no name may be a folder
of another. A segment that has to change gets a short hash of what it was, so two names never become one.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable

LONGEST = 250
_LONGEST_SEGMENT = 100
_ILLEGAL = re.compile(r"[^\w\-.: ]")
_HASH = 8


def legal_names(names: Iterable[str]) -> dict[str, str]:
    """Give every name a legal one of its own: readable, the same on every run, different for different names.

    Returns:
        Legal names by original name, in the given order.

    >>> list(legal_names(["quality/longdoc/depth:0.9/n", "recall_5", "recall@5"]).values())
    ['quality/longdoc/depth:0.9/n', 'recall_5', 'recall_5-80191039']
    """
    found = {name: _shorten(name, "/".join(map(_segment, name.split("/")))) for name in dict.fromkeys(names)}
    for _ in found:
        clashes = _clashes(found)
        if not clashes:
            break
        found |= {name: _cut(found[name], name) for name in clashes}
    return found


def _segment(segment: str) -> str:
    clean = _ILLEGAL.sub("_", unicodedata.normalize("NFC", segment)).strip() or "_"
    # Blanks at the ends are lost in some stores, and dots alone are steps in a path.
    clean = clean.replace(".", "_") if not clean.strip(".") else clean
    clean = clean[:_LONGEST_SEGMENT]
    return clean if clean == segment else f"{clean}-{_digest(segment)}"


def _shorten(original: str, legal: str) -> str:
    return legal if len(legal) <= LONGEST else _cut(legal, original)


def _cut(legal: str, original: str) -> str:
    head = legal[: LONGEST - _HASH - 1].rstrip("/. ")
    return f"{head}-{_digest(original)}"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", errors="surrogatepass")).hexdigest()[:_HASH]


def _clashes(found: dict[str, str]) -> list[str]:
    """Return the originals whose names are taken twice, in any case of letters, or are a folder of another name."""
    by_name: dict[str, list[str]] = {}
    for original, legal in found.items():
        by_name.setdefault(_fold(legal), []).append(original)
    folders = {"/".join(parts[:i]) for parts in (name.split("/") for name in by_name) for i in range(1, len(parts))}
    return [
        original
        for name, originals in by_name.items()
        for original in originals
        # The first of two equal names that was legal as it stood keeps it.
        if name in folders or (len(originals) > 1 and original != next(iter(_kept(originals, found)), None))
    ]


def _kept(originals: list[str], found: dict[str, str]) -> list[str]:
    return [original for original in originals if found[original] == original]


def _fold(name: str) -> str:
    # Some databases compare names without regard to case.
    return unicodedata.normalize("NFKC", name).casefold()
