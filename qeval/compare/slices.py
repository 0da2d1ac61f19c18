"""Slices: which pairs belong together, and what they are called.

A name is `[suite/]tag=value`, a cross `[suite/]tag=value&tag=value`, a suite, or `all`. In a `SliceKey` a cross is
its first tag with the rest kept in the value, so that its label reads as it was written.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence

from qeval.compare.pairs import Scored
from qeval.compare.report import SliceKey
from qeval.record import CaseInfo

_AND = re.compile(r"&(?=[^&=]+=)")

MOST_VALUES = 100
"""A tag with more values than this is an identifier, not a property: it makes no exploratory slices."""


def parse_slice(name: str) -> SliceKey:
    """Read the name of a slice as people write it and reports show it.

    >>> parse_slice("longdoc/depth=0.9").label, parse_slice("lang=de").label, parse_slice("longdoc").label
    ('longdoc/depth=0.9', 'all/lang=de', 'longdoc')
    >>> parse_slice("lang=de&depth=0.9").label
    'all/lang=de&depth=0.9'

    Raises:
        ValueError: a part of the name is empty.
    """
    head, slash, rest = name.partition("/")
    # A slash after the first '=' belongs to a tag's value.
    suite, terms = (head, rest) if slash and "=" not in head else (None, name) if "=" in name else (name, "")
    tag, equals, value = terms.partition("=")
    if suite == "" or (slash and suite is not None and not terms) or (terms and not (tag and equals and value)):
        raise ValueError(f"'{name}' names no slice; write suite, tag=value, suite/tag=value or tag=value&tag=value")
    return SliceKey(suite=None if suite == "all" else suite, tag=tag or None, value=value if equals else None)


def change_name(name: str, change: Callable[[str], str]) -> str:
    """Return the name of a slice with its tags' values changed.

    >>> change_name("longdoc/depth=low&lang=de", str.upper), change_name("longdoc", str.upper)
    ('longdoc/depth=LOW&lang=DE', 'longdoc')
    """
    return "&".join(f"{tag}{equals}{change(value) if equals else ''}" for tag, equals, value in _terms(name))


def change_value(value: str, change: Callable[[str], str]) -> str:
    """Return the value of a `SliceKey`, which may be that of a cross, with its tags' values changed.

    >>> change_value("low", str.upper), change_value("low&lang=de", str.upper)
    ('LOW', 'LOW&lang=DE')
    """
    return change_name(f"={value}", change).removeprefix("=")


def _terms(name: str) -> list[tuple[str, str, str]]:
    return [term.partition("=") for term in _AND.split(name)]


def belongs(key: SliceKey, suite: str, tags: Mapping[str, str]) -> bool:
    """Return whether a case is in a slice."""
    if key.suite is not None and key.suite != suite:
        return False
    if key.tag is None:
        return True
    terms = [term.split("=", 1) for term in _AND.split(f"{key.tag}={key.value}")]
    return all(tags.get(tag) == value for tag, value in terms)


def members(key: SliceKey, scored: Sequence[Scored]) -> tuple[int, ...]:
    """Return the positions of a slice's pairs."""
    return tuple(i for i, one in enumerate(scored) if belongs(key, one.pair.info.suite, one.pair.info.tags))


def tag_slices(cases: Sequence[CaseInfo]) -> dict[SliceKey, tuple[int, ...]]:
    """Return every tag value's slice, within each suite and over all, with the positions of its cases.

    Over all: only where a value occurs in several suites, since it would repeat the suite's slice otherwise.
    """
    found: dict[tuple[str, str, str], list[int]] = defaultdict(list)
    for i, case in enumerate(cases):
        for tag, value in case.tags.items():
            found[case.suite, tag, value].append(i)
    values = Counter((suite, tag) for suite, tag, _ in found)
    kept = {at: positions for at, positions in found.items() if values[at[0], at[1]] <= MOST_VALUES}
    within = {SliceKey(suite=s, tag=tag, value=value): tuple(at) for (s, tag, value), at in kept.items()}
    by_value: dict[tuple[str, str], list[list[int]]] = defaultdict(list)
    for (_, tag, value), at in kept.items():
        by_value[tag, value].append(at)
    over_all = {
        SliceKey(tag=tag, value=value): tuple(sorted(i for at in parts for i in at))
        for (tag, value), parts in by_value.items()
        if len(parts) > 1
    }
    return {**over_all, **within}
