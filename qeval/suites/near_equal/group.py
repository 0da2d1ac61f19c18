"""Which cases are near-equal, and the groups that they form."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from qeval.groups import Groups
from qeval.suites.case import Case, Suite
from qeval.suites.near_equal.alignment import difference
from qeval.suites.near_equal.candidates import Turns, near_pairs
from qeval.suites.near_equal.masked import mask, weigh

FEWEST_WORDS = 5.0
"""Words that two turns must share before they are near-equal in spite of different names or words."""
FEWEST_PLAIN = 2.0
"""Words that two turns must share before they are near-equal with different numbers: of a number alone the task is told
elsewhere."""
CLOSE, LOOSE = 0.10, 0.25
"""Share of its words in which a turn may differ from another: in a pair, and in a template."""
TEMPLATE = 4
"""Different prompts that make a template. Fewer may well be a pair of opposites ("kill a process", "kill a person")."""


class _Prompt(NamedTuple):
    """What cases ask, without the values; see `qeval.suites.near_equal.masked.Masked`."""

    turns: tuple[str, ...]
    plain: Turns
    bare: Turns


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
    firsts = [places[0] for places in texts.values()]
    prompts = [_masked(turns, cases[first].tags.get("lang")) for turns, first in zip(texts, firsts, strict=True)]
    groups = Groups[tuple[int]]()
    for prompt, places in zip(prompts, texts.values(), strict=True):
        if any(map(weigh, prompt.plain)):
            groups.join((place,) for place in places)
    for link in _kept(list(_links(prompts))):
        groups.join([(firsts[link.one],), (firsts[link.other],)])
    return tuple(groups.name((place,))[0] for place in range(len(cases)))


def near_equal_names(suites: Sequence[Suite]) -> dict[tuple[str, str], str]:
    """Return the name of its group, by suite and case id, for each case that is near-equal to another of any suite.

    A group is named by its first case, `suite/case`.
    """
    placed = [(suite.name, case) for suite in suites for case in suite.cases]
    firsts = near_equal([case for _, case in placed])
    sizes = Counter(firsts)
    return {
        (suite, case.id): f"{placed[first][0]}/{placed[first][1].id}"
        for (suite, case), first in zip(placed, firsts, strict=True)
        if sizes[first] > 1
    }


def _masked(turns: tuple[str, ...], lang: str | None) -> _Prompt:
    masked = [mask(turn, lang) for turn in turns]
    return _Prompt(turns, tuple(turn.plain for turn in masked), tuple(turn.bare for turn in masked))


def _links(prompts: Sequence[_Prompt]) -> Iterator[_Link]:
    """Yield pairs of different texts that are at least as near as those of a template."""
    by_plain: dict[Turns, int] = {}
    by_bare: dict[Turns, int] = {}
    alike: list[tuple[int, int]] = []
    for place, prompt in enumerate(prompts):
        firsts = by_plain.setdefault(prompt.plain, place), by_bare.setdefault(prompt.bare, place)
        alike += [(first, place) for first in firsts if first != place]
    places = list(by_bare.values())
    near = ((places[one], places[other]) for one, other in near_pairs(list(by_bare)))
    for one, other in (*alike, *near):
        share = _share(prompts[one], prompts[other])
        if share is not None:
            yield _Link(one, other, share)


def _share(one: _Prompt, other: _Prompt) -> float | None:
    """Return the share of words that differ in the turns that differ; None where it is too much even for a template.

    Each turn is held to the limits by itself: another question after a long talk is another question.
    """
    if len(one.turns) != len(other.turns):
        return None
    most = 0.0
    for place in range(len(one.turns)):
        if one.turns[place] != other.turns[place]:
            share = _share_of_turn(one, other, place)
            if share is None:
                return None
            most = max(most, share)
    return most


def _share_of_turn(one: _Prompt, other: _Prompt, place: int) -> float | None:
    if one.plain[place] == other.plain[place] and weigh(one.plain[place]) >= FEWEST_PLAIN:
        return 0.0
    apart = difference(one.bare[place], other.bare[place])
    words = max(weigh(one.bare[place]), weigh(other.bare[place]))
    if apart is None or apart > LOOSE * words or words - apart < FEWEST_WORDS:
        return None
    return apart / words


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
