"""Questions about a document: what is asked, what is right, and on which lines it rests."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from qeval.suites.draw import Draw
from qeval.suites.slots import draw_value

from .document import Document, LongFacts

ABSENT = "not stated"


class Question(NamedTuple):
    """What is asked of a document, a right answer, the graders, and the lines that the answer rests on."""

    text: str
    answer: str
    graders: list[dict[str, Any]]
    needs: list[str]
    kind: str = ""


def _grader(value: str | int) -> dict[str, Any]:
    if isinstance(value, int):
        return {"kind": "number", "value": value, "which": "first"}
    return {"kind": "contains", "value": _bare(value)}


def _bare(value: str) -> str:
    """Return a place without its article, which an answer may leave out."""
    return value.removeprefix("the ")


def _single(draw: Draw, bank: dict[str, Any], document: Document) -> Question:
    line = draw.pick(document.topics)
    return Question(line.ask, line.text, [_grader(line.value)], [line.text])


def _choice(draw: Draw, bank: dict[str, Any], document: Document) -> Question:
    """Ask for a fact and name two values, one of which the document gives."""
    line = draw.pick(document.topics)
    other = line.value
    while other == line.value:
        other = draw_value(draw, bank["values"][line.kind]).value
    first, second = draw.shuffled([line.value, other])
    graders = [_grader(line.value), {"kind": "not_contains", "value": str(other)}]
    return Question(f"{line.ask} {first} or {second}?", line.text, graders, [line.text])


def _check(draw: Draw, bank: dict[str, Any], document: Document) -> Question:
    """Is a line right? Where it is not, another register line's number stands in it."""
    record, other = draw.sample(document.records, 2)
    right = draw.pick([True, False])
    line = record.text if right else record.text.replace(str(record.number), str(other.number))
    return Question(bank["questions"]["check"].format(line=line), *_yes_or_no(right), [record.text])


def _compare(draw: Draw, bank: dict[str, Any], document: Document) -> Question:
    first, second = draw.sample(document.records, 2)
    question = bank["questions"]["compare"].format(first=first.thing, second=second.thing)
    return Question(question, *_yes_or_no(first.number > second.number), [first.text, second.text])


def _yes_or_no(right: bool) -> tuple[str, list[dict[str, Any]]]:
    words = ("yes", "no") if right else ("no", "yes")
    return words[0], [{"kind": "contains", "value": words[0]}, {"kind": "not_contains", "value": words[1]}]


def _rule(draw: Draw, bank: dict[str, Any], document: Document) -> Question:
    role = document.role
    return Question(role.ask, role.text, [_grader(role.value)], [role.text, document.role_line])


def _update(draw: Draw, bank: dict[str, Any], document: Document) -> Question:
    graders = [_grader(document.changed.value)]
    if isinstance(document.before.value, str):
        graders.append({"kind": "not_contains", "value": document.before.value})
    changed = document.changed
    return Question(changed.ask, changed.text, graders, [changed.text, document.before.text])


def _absent(draw: Draw, bank: dict[str, Any], document: Document) -> Question:
    """Ask for what the document does not say: a topic, or (in a long one) a thing that looks like those it holds."""
    asks = [document.missing.ask]
    if document.more is not None:
        asks.append(bank["questions"]["lookup"].format(thing=draw.pick(document.more.strangers)))
    return Question(draw.pick(asks) if len(asks) > 1 else asks[0], ABSENT, [{"kind": "contains", "value": ABSENT}], [])


def _several(draw: Draw, bank: dict[str, Any], document: Document) -> Question:
    first, second = draw.sample(document.topics, 2)
    values = [str(first.value), str(second.value)]
    graders: list[dict[str, Any]] = [{"kind": "contains", "values": values}]
    return Question(f"{first.ask} {second.ask}", ", ".join(values), graders, [first.text, second.text])


def _lookup(draw: Draw, bank: dict[str, Any], document: Document) -> Question:
    record = draw.pick(document.records)
    question = bank["questions"]["lookup"].format(thing=record.thing)
    return Question(question, record.text, [_grader(record.number)], [record.text])


def _owner(draw: Draw, bank: dict[str, Any], document: Document) -> Question:
    record = draw.pick(document.records)
    question = bank["questions"]["owner"].format(thing=record.thing)
    return Question(question, record.text, [_grader(record.person)], [record.text])


def _chain(draw: Draw, bank: dict[str, Any], document: Document) -> Question:
    record = draw.pick(document.records)
    keeper = document.keepers[record.place]
    return Question(bank["questions"]["chain"].format(thing=record.thing), keeper, [_grader(keeper)], [record.text])


def _count(draw: Draw, bank: dict[str, Any], document: Document) -> Question:
    place = draw.pick(document.records).place
    found = [record.text for record in document.records if record.place == place]
    return Question(bank["questions"]["count"].format(place=place), str(len(found)), [_grader(len(found))], found)


def _list(draw: Draw, bank: dict[str, Any], document: Document) -> Question:
    place = draw.pick(document.records).place
    found = [record for record in document.records if record.place == place]
    others = [record.thing for record in document.records if record.place != place]
    things = [record.thing for record in found]
    graders: list[dict[str, Any]] = [{"kind": "contains", "values": things}, {"kind": "not_contains", "values": others}]
    question = bank["questions"]["list"].format(place=place)
    return Question(question, ", ".join(things), graders, [record.text for record in found])


def _most(draw: Draw, bank: dict[str, Any], document: Document) -> Question:
    most = max(document.records, key=lambda record: record.number)
    others = [record.thing for record in document.records if record is not most]
    graders: list[dict[str, Any]] = [{"kind": "contains", "value": most.thing}]
    graders.append({"kind": "not_contains", "values": others})
    return Question(bank["questions"]["most"], most.text, graders, [most.text])


# Of long documents only.


def _more(document: Document) -> LongFacts:
    if document.more is None:
        raise ValueError("this question is about a long document")
    return document.more


def _clause(draw: Draw, bank: dict[str, Any], document: Document) -> Question:
    clause = _more(document).clause
    graders: list[dict[str, Any]] = [_grader(clause.value), {"kind": "not_contains", "value": clause.other}]
    return Question(clause.ask, clause.value, graders, [clause.opening, clause.closing])


def _keys(draw: Draw, bank: dict[str, Any], document: Document) -> Question:
    line = draw.pick(_more(document).keyed)
    return Question(line.ask, line.text, [_grader(line.value)], [line.text])


def _values(draw: Draw, bank: dict[str, Any], document: Document) -> Question:
    lines = _more(document).collected
    values = [str(line.value) for line in lines]
    return Question(
        lines[0].ask, ", ".join(values), [{"kind": "contains", "values": values}], [line.text for line in lines]
    )


def _questions(draw: Draw, bank: dict[str, Any], document: Document) -> Question:
    lines = draw.sample(document.topics, 3)
    values = [str(line.value) for line in lines]
    text = bank["questions"]["questions"].format(*(line.ask for line in lines))
    return Question(text, ", ".join(values), [{"kind": "contains", "values": values}], [line.text for line in lines])


def _before(draw: Draw, bank: dict[str, Any], document: Document) -> Question:
    before, changed = document.before, document.changed
    graders = [_grader(before.value)]
    if isinstance(changed.value, str):
        graders.append({"kind": "not_contains", "value": changed.value})
    text = bank["questions"]["before"].format(ask=before.ask)
    return Question(text, before.text, graders, [before.text, changed.text])


def _deputy(draw: Draw, bank: dict[str, Any], document: Document) -> Question:
    record = draw.pick(document.records)
    deputy = _more(document).deputies[document.keepers[record.place]]
    text = bank["questions"]["deputy"].format(thing=record.thing)
    return Question(text, deputy, [_grader(deputy)], [record.text])


MAKERS: dict[str, Callable[[Draw, dict[str, Any], Document], Question]] = {
    "single": _single,
    "choice": _choice,
    "check": _check,
    "compare": _compare,
    "rule": _rule,
    "update": _update,
    "absent": _absent,
    "several": _several,
    "lookup": _lookup,
    "owner": _owner,
    "chain": _chain,
    "count": _count,
    "list": _list,
    "most": _most,
    "clause": _clause,
    "keys": _keys,
    "values": _values,
    "questions": _questions,
    "before": _before,
    "deputy": _deputy,
}
