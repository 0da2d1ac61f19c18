"""Documents: their facts, and how they are written."""

from __future__ import annotations

from typing import Any, NamedTuple

from qeval.suites.draw import Draw
from qeval.suites.slots import draw_value

CHARACTERS_PER_TOKEN = {"table": 3.0, "code": 2.8, "log": 3.3, "chat": 3.5}
"""As the embedded model's tokenizer counts, so that all kinds come out equally long; 3.8 for the others."""
LONG_FROM = 1
"""Thousands of tokens from which on a document holds further facts, and more lines in its register."""


class Line(NamedTuple):
    """A line of a document that holds a fact."""

    text: str
    value: str | int
    ask: str
    kind: str
    """Which of the bank's values it is."""


class Record(NamedTuple):
    """A line of the register that each document holds."""

    text: str
    number: int
    thing: str
    place: str
    person: str


class Clause(NamedTuple):
    """An opening line that names two values; the closing line of the document decides which of them holds."""

    opening: str
    closing: str
    value: str
    other: str
    ask: str


class LongFacts(NamedTuple):
    """What only a long document holds besides."""

    clause: Clause
    collected: list[Line]
    """Three lines that give a value each; they are asked for together."""
    keyed: list[Line]
    """Lines that differ only in their keys, which look alike, and in their values."""
    deputies: dict[str, str]
    """Who looks after a place -> who stands in."""
    strangers: list[str]
    """Things that the register does not hold."""

    def lines(self, deputy: str) -> list[str]:
        """Return the lines that stand anywhere in the document."""
        deputies = [deputy.format(deputy=name, person=person) for person, name in self.deputies.items()]
        return [line.text for line in [*self.collected, *self.keyed]] + deputies


class Document(NamedTuple):
    """A document and the facts in it; every line with a fact stands in `lines` once."""

    lines: list[str]
    topics: list[Line]
    missing: Line
    """A topic that the document does not mention."""
    changed: Line
    """A topic that is stated twice; this is the later statement."""
    before: Line
    role: Line
    """The opening rule; `ask` is about the late line that needs it."""
    role_line: str
    records: list[Record]
    keepers: dict[str, str]
    """Place -> who looks after it."""
    more: LongFacts | None
    """What only a long document holds."""


def write(draw: Draw, bank: dict[str, Any], kind: str, length: float) -> Document:
    """Write a document of about `length` thousand tokens."""
    form, values = bank["kinds"][kind], bank["values"]
    chosen = draw.sample(form["topics"], 6)
    topics = [_line(draw, values, topic) for topic in chosen[:5]]
    missing = _line(draw, values, chosen[5])
    before = topics.pop()
    changed = before
    while changed.value == before.value:
        changed = _line(draw, values, chosen[4])
    people = draw.shuffled(values["person"]["values"])
    rule, late, ask = draw.pick(form["roles"])
    person = people.pop()
    role = Line(rule.format(person), person, ask, "person")
    if length >= LONG_FROM:
        people += draw.shuffled(values["more_person"]["values"])
    records = _records(draw, values, form["record"], people, length)
    places = list(dict.fromkeys(record.place for record in records))
    keepers = {place: people.pop() for place in places}
    more = _long_facts(draw, bank, kind, people, (records, keepers)) if length >= LONG_FROM else None
    keeper_lines = [bank["keeper"].format(person=person, place=place) for place, person in keepers.items()]
    parts = [[line.text] for line in topics] + [[record.text] for record in records] + [[line] for line in keeper_lines]
    parts += [[late], [form["change"], changed.text]] + (
        [[line] for line in more.lines(bank["deputy"])] if more else []
    )
    wanted = length * 1000 * CHARACTERS_PER_TOKEN.get(kind, 3.8)
    body = _fill(draw, values, form["filler"], parts, int(wanted))
    # The rules open the document; what a later line replaces stands right after them.
    opening, closing = ([more.clause.opening], [more.clause.closing]) if more else ([], [])
    lines = [_fresh(draw, values, form["title"]), *opening, role.text, before.text, *body, *closing]
    return Document(lines, topics, missing, changed, before, role, late, records, keepers, more)


def _line(draw: Draw, values: dict[str, Any], topic: list[str]) -> Line:
    text, ask, kind = topic
    value = draw_value(draw, values[kind]).value
    return Line(text.format(value), value, ask, kind)


def _records(draw: Draw, values: dict[str, Any], form: str, people: list[str], length: float) -> list[Record]:
    """Return the lines of the register: several at the first place, fewer at the others."""
    shares = (3, 1) if length < LONG_FROM else (4, 2, 2) if length < 4 else (5, 3, 2, 2)
    things = draw.sample(values["thing"]["values"], sum(shares))
    numbers = draw.sample(range(11, 96), sum(shares))
    named = draw.sample(values["place"]["values"], len(shares))
    places = [place for place, share in zip(named, shares, strict=True) for _ in range(share)]
    records = []
    for thing, number, place in zip(things, numbers, places, strict=True):
        person = people.pop()
        text = form.format(number=number, thing=thing, place=place, person=person)
        records.append(Record(text, number, thing, place, person))
    return records


def _long_facts(
    draw: Draw, bank: dict[str, Any], kind: str, people: list[str], known: tuple[list[Record], dict[str, str]]
) -> LongFacts:
    """Draw the facts of a long document, with persons that it does not name yet."""
    form, values, (records, keepers) = bank["long"][kind], bank["values"], known
    text, ask, value_kind = form["collected"]
    collected = [
        Line(text.format(value), value, ask, value_kind) for value in draw.sample(values[value_kind]["values"], 3)
    ]
    text, ask = form["keyed"]
    keys = draw.sample(values["key"]["values"], len(records))
    numbers = draw.sample(range(101, 1000), len(records))
    keyed = [
        Line(text.format(key=key, value=number), number, ask.format(key=key), "number")
        for key, number in zip(keys, numbers, strict=True)
    ]
    deputies = {keeper: people.pop() for keeper in keepers.values()}
    held = {record.thing for record in records}
    strangers = [thing for thing in values["thing"]["values"] if thing not in held]
    return LongFacts(_clause(draw, values, form["clauses"], people), collected, keyed, deputies, strangers)


def _clause(draw: Draw, values: dict[str, Any], clauses: list[list[str]], people: list[str]) -> Clause:
    opening, if_first, if_second, ask, kind = draw.pick(clauses)
    pair = [people.pop(), people.pop()] if kind == "person" else draw.sample(values[kind]["values"], 2)
    holds = draw.whole(0, 1)
    return Clause(opening.format(*pair), (if_first, if_second)[holds], pair[holds], pair[1 - holds], ask)


def _fill(
    draw: Draw, values: dict[str, Any], filler: list[str], parts: list[list[str]], n_characters: int
) -> list[str]:
    """Mix the parts in a drawn order with filler, up to a length."""
    missing = n_characters - sum(len(line) + 1 for part in parts for line in part)
    while missing > 0:
        line = _fresh(draw, values, draw.pick(filler))
        parts.append([line])
        missing -= len(line) + 1
    return [line for part in draw.shuffled(parts) for line in part]


def _fresh(draw: Draw, values: dict[str, Any], text: str) -> str:
    """Fill the slots of a title or filler line."""
    company, other = draw.sample(values["company"]["values"], 2)
    city, weekday = draw.pick(values["city"]["values"]), draw.pick(values["weekday"]["values"])
    return text.format(company=company, company2=other, city=city, weekday=weekday, n=draw.whole(1, 99))
