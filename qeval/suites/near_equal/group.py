"""Which cases are near-equal, and the groups that they form."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import NamedTuple

from qeval.groups import Groups
from qeval.suites.case import Case
from qeval.suites.near_equal.alignment import difference
from qeval.suites.near_equal.candidates import Turns, near_pairs
from qeval.suites.near_equal.masked import mask, weight

FEWEST_WORDS = 5.0
"""Words that two prompts must share before they are near-equal in spite of different names or words."""
CLOSE, LOOSE = 0.10, 0.25
"""Share of its words in which a prompt may differ from another: in a pair, and in a template."""
TEMPLATE = 4
"""Different prompts that make a template. Fewer may well be a pair of opposites ("kill a process", "kill a person")."""


class _Prompt(NamedTuple):
    """What cases ask, without the values; see `qeval.suites.near_equal.masked.Masked`."""

    plain: Turns
    bare: Turns
    words: float
    """How many are left in `bare`."""


class _Link(NamedTuple):
    one: int
    other: int
    share: float
    """Of the words that differ."""


def near_equal(cases: Sequence[Case]) -> tuple[int, ...]:
    """Return for each case the position of the first case of its group: its own where it is near-equal to none before.

    Groups are joined by every near-equal pair, so two cases of a group may differ by more than either from a third.
    """
    texts: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for place, case in enumerate(cases):
        texts[tuple(turn.content for turn in case.messages if turn.role in {"user", "tool"})].append(place)
    groups = Groups[tuple[int]]()
    for places in texts.values():
        groups.join((place,) for place in places)
    firsts = [places[0] for places in texts.values()]
    prompts = [_masked(turns, cases[first].tags.get("lang")) for turns, first in zip(texts, firsts, strict=True)]
    for link in _kept(list(_links(prompts))):
        groups.join([(firsts[link.one],), (firsts[link.other],)])
    return tuple(groups.name((place,))[0] for place in range(len(cases)))


def _masked(turns: Sequence[str], lang: str | None) -> _Prompt:
    masked = [mask(turn, lang) for turn in turns]
    bare = tuple(turn.bare for turn in masked)
    return _Prompt(tuple(turn.plain for turn in masked), bare, sum(map(weight, chain.from_iterable(bare)), start=0.0))


def _links(prompts: Sequence[_Prompt]) -> Iterator[_Link]:
    """Yield pairs of different texts that are at least as near as those of a template."""
    by_plain: dict[Turns, int] = {}
    by_bare: dict[Turns, int] = {}
    for place, prompt in enumerate(prompts):
        alike = [by_plain.setdefault(prompt.plain, place)] if any(prompt.plain) else []
        alike += [by_bare.setdefault(prompt.bare, place)] if prompt.words >= FEWEST_WORDS else []
        yield from (_Link(first, place, 0.0) for first in alike if first != place)
    places = list(by_bare.values())
    for one, other in near_pairs(list(by_bare)):
        share = _share(prompts[places[one]], prompts[places[other]])
        if share is not None:
            yield _Link(places[one], places[other], share)


def _share(one: _Prompt, other: _Prompt) -> float | None:
    """Return the share of words that differ, None where it is too much even for a template."""
    words = max(one.words, other.words)
    if len(one.bare) != len(other.bare):
        return None
    apart = 0.0
    for turn, beside in zip(one.bare, other.bare, strict=True):
        gaps = difference(turn, beside)
        if gaps is None:
            return None
        apart += gaps
    return apart / words if apart <= LOOSE * words and words - apart >= FEWEST_WORDS else None


def _kept(links: Sequence[_Link]) -> Iterator[_Link]:
    """Yield the close links, and the looser ones within a template."""
    loose = Groups[tuple[int]]()
    for link in links:
        loose.join([(link.one,), (link.other,)])
    members: dict[tuple[int], set[int]] = defaultdict(set)
    for place in {place for link in links for place in (link.one, link.other)}:
        members[loose.name((place,))].add(place)
    for link in links:
        if link.share <= CLOSE or len(members[loose.name((link.one,))]) >= TEMPLATE:
            yield link
