"""Cases of the suite `longdoc`: documents of several kinds and lengths, with several questions each."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from itertools import cycle
from pathlib import Path
from typing import Any, NamedTuple

from qeval.suites.bank import read_bank
from qeval.suites.draw import Draw

# (length in thousands of tokens, documents, questions each)
PLAN = {
    "smoke": ((0.2, 10, 3), (0.5, 2, 1)),
    "standard": ((0.2, 16, 4), (0.5, 20, 4), (1, 20, 4), (2, 12, 4), (4, 8, 4), (6, 4, 4)),
    "full": ((0.2, 44, 5), (0.5, 54, 5), (1, 54, 5), (2, 32, 5), (4, 20, 5), (6, 12, 5)),
}
CHARACTERS_PER_TOKEN = {"table": 3.0, "code": 2.8, "log": 3.3, "chat": 3.5}
"""As the embedded model's tokenizer counts, so that all kinds come out equally long; 3.8 for the others."""
# The order in which questions come round. A document gets questions answered with a line, or (every third) questions
# answered yes or no, so that all of its questions share two examples.
LINE_ROUND = (
    "single", "absent", "rule", "update", "lookup", "most", "single", "several", "rule", "absent", "list",
    "choice", "count", "single", "update", "chain", "rule", "lookup", "list", "single", "owner", "absent", "rule",
)  # fmt: skip
YES_OR_NO_ROUND = ("check", "compare", "check")
DIFFICULTY = {
    "single": "easy", "lookup": "easy", "owner": "easy", "choice": "easy",
    "check": "medium", "compare": "medium", "rule": "medium", "update": "medium",
}  # fmt: skip
COPIES = frozenset({"single", "choice", "lookup", "owner"})
"""Questions that whoever copies the right line has answered."""
YES_OR_NO = frozenset({"check", "compare"})
ABSENT = "not stated"
INSTRUCTION = f'Answer with the line of the text that tells it, or with "{ABSENT}".'


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


class Question(NamedTuple):
    """What is asked of a document, a right answer, the graders, and the lines that the answer rests on."""

    text: str
    answer: str
    graders: list[dict[str, Any]]
    needs: list[str]
    kind: str = ""


def generate(size: str, seed: int) -> list[dict[str, Any]]:
    """Return the cases of a size."""
    bank = read_bank(Path(__file__).with_name("bank.yaml"))
    plans = [(length, n_asked) for length, n_documents, n_asked in PLAN[size] for _ in range(n_documents)]
    lines, yes_or_no = cycle(LINE_ROUND), cycle(YES_OR_NO_ROUND)
    # Where a model always says no, half of the questions must be answered yes.
    truths = cycle(("yes", "no"))
    cases: list[dict[str, Any]] = []
    for number, (length, n_asked) in enumerate(plans):
        kind = list(bank["kinds"])[number % len(bank["kinds"])]
        cluster = f"{size}-{number:03d}"
        document = _write(Draw(seed, size, number), bank, kind, length)
        draw = Draw(seed, cluster)
        if number % 3 == 2:
            checks = _ask(draw, bank, document, cycle(["check"]), count=2, answers=cycle(["yes", "no"]))
            examples = draw.shuffled(checks)
            questions = _ask(draw, bank, document, yes_or_no, count=n_asked, answers=truths, shown=examples)
        else:
            examples = _ask(draw, bank, document, iter(["single", "lookup"]), count=2)
            questions = _ask(draw, bank, document, lines, count=n_asked, shown=examples)
        tags = {"lang": "en", "document": kind, "length": f"{length:g}k"}
        cases += [_case(document, examples, question, cluster, tags) for question in questions]
    return cases


def _ask(
    draw: Draw,
    bank: dict[str, Any],
    document: Document,
    kinds: Iterator[str],
    *,
    count: int,
    answers: Iterator[str] | None = None,
    shown: Sequence[Question] = (),
) -> list[Question]:
    """Return questions of the kinds whose turn it is, none of which rests on a line that answers a shown one.

    Args:
        draw: where values come from.
        bank: the bank of the suite.
        document: what is asked about.
        kinds: a kind for each try.
        count: how many to return.
        answers: the answers that they must have in turn; None where any will do.
        shown: examples whose answers stand in the prompt.
    """
    questions: list[Question] = []
    answer = None if answers is None else next(answers)
    while len(questions) < count:
        kind = next(kinds)
        question = MAKERS[kind](draw, bank, document)._replace(kind=kind)
        while answer not in {None, question.answer}:
            question = MAKERS[kind](draw, bank, document)._replace(kind=kind)
        known = [set(other.needs) for other in [*shown, *(questions if not shown else [])]]
        if question.text in {other.text for other in questions} or _told(question, known):
            continue
        questions.append(question)
        answer = None if answers is None or len(questions) == count else next(answers)
    return questions


def _told(question: Question, known: list[set[str]]) -> bool:
    """Whether the lines it rests on are those of a shown question, or (of several answers) one of them is."""
    needs = set(question.needs)
    return any(needs == other or (question.kind == "several" and needs & other) for other in known)


def _case(
    document: Document, examples: list[Question], question: Question, cluster: str, tags: dict[str, str]
) -> dict[str, Any]:
    text = "\n".join(document.lines)
    first, second = examples
    number = hashlib.sha256(question.text.encode()).hexdigest()[:6]
    return {
        "id": f"longdoc-{cluster}-{question.kind}-{number}",
        "messages": [
            {"role": "system", "content": INSTRUCTION},
            {"role": "user", "content": f"{text}\n\n{first.text}"},
            {"role": "assistant", "content": first.answer},
            {"role": "user", "content": second.text},
            {"role": "assistant", "content": second.answer},
            {"role": "user", "content": question.text},
        ],
        "graders": question.graders,
        "tags": {
            **tags,
            "kind": question.kind,
            "depth": _depth(text, question.needs),
            "difficulty": DIFFICULTY.get(question.kind, "hard"),
            "copy": "yes" if question.kind in COPIES else "no",
        },
        "cluster": cluster,
        "max_new_tokens": 2 if question.kind in YES_OR_NO else 20,
    }


def _depth(text: str, needs: list[str]) -> str:
    """Return in which fifth of the document the first line lies that the answer rests on."""
    if not needs:
        return "none"
    fifth = min(int(5 * text.index(needs[0]) / len(text)), 4)
    return f"{20 * fifth}-{20 * fifth + 20}%"


def _write(draw: Draw, bank: dict[str, Any], kind: str, length: float) -> Document:
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
    records = _records(draw, values, form["record"], people)
    places = list(dict.fromkeys(record.place for record in records))
    keepers = {place: people.pop() for place in places}
    keeper_lines = [bank["keeper"].format(person=person, place=place) for place, person in keepers.items()]
    parts = [[line.text] for line in topics] + [[record.text] for record in records] + [[line] for line in keeper_lines]
    parts += [[late], [form["change"], changed.text]]
    wanted = length * 1000 * CHARACTERS_PER_TOKEN.get(kind, 3.8)
    body = _fill(draw, values, form["filler"], parts, int(wanted))
    # The rule opens the document; what a later line replaces stands right after it.
    lines = [_fresh(draw, values, form["title"]), role.text, before.text, *body]
    return Document(lines, topics, missing, changed, before, role, late, records, keepers)


def _line(draw: Draw, values: dict[str, Any], topic: list[str]) -> Line:
    text, ask, kind = topic
    value = _value(draw, values[kind])
    return Line(text.format(value), value, ask, kind)


def _value(draw: Draw, bank: dict[str, Any]) -> str | int:
    if "range" in bank:
        return draw.whole(*bank["range"])
    value: str = draw.pick(bank["values"])
    return value


def _records(draw: Draw, values: dict[str, Any], form: str, people: list[str]) -> list[Record]:
    """Return four lines of the register: three at one place, one at another."""
    things = draw.sample(values["thing"]["values"], 4)
    numbers = draw.sample(range(11, 96), 4)
    first, second = draw.sample(values["place"]["values"], 2)
    records = []
    for thing, number, place in zip(things, numbers, [first, first, first, second], strict=True):
        person = people.pop()
        text = form.format(number=number, thing=thing, place=place, person=person)
        records.append(Record(text, number, thing, place, person))
    return records


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
        other = _value(draw, bank["values"][line.kind])
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
    return Question(document.missing.ask, ABSENT, [{"kind": "contains", "value": ABSENT}], [])


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
}
