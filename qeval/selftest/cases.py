"""The suite of the self-test: short questions of six kinds that the embedded model often, but not always, gets right.

Every case is drawn by itself and shares nothing with others but the example of its kind, which stands before it as an
earlier turn; so each is a cluster of its own, and few cases say much. A larger suite begins with the cases of each kind
of the smaller one.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from qeval.jsonl import dumps, write_atomic
from qeval.suites.bank import read_bank
from qeval.suites.draw import Draw
from qeval.suites.load import CASES_FILE, HEADER_FILE

SUITE = "selftest"


class Bank(NamedTuple):
    """What the questions are made of."""

    names: list[str]
    colours: list[str]
    places: list[str]
    things: list[str]
    words: list[str]


@cache
def bank() -> Bank:
    """Return the word bank, read once."""
    return Bank(**read_bank(Path(__file__).with_name("words.yaml")))


class Question(NamedTuple):
    """A question and the pattern that a right answer holds."""

    text: str
    pattern: str


class Kind(NamedTuple):
    """One kind of question, with the example that stands before each."""

    example: str
    answer: str
    questions: Callable[[int], list[Question]]
    """Given a number, that many questions; a longer list begins with the shorter one."""
    max_new_tokens: int = 9


def _each(name: str, ask: Callable[[Draw], Question]) -> Callable[[int], list[Question]]:
    return lambda count: [ask(Draw(SUITE, name, number)) for number in range(count)]


def _owner(draw: Draw) -> Question:
    names, things, asked = draw.sample(bank().names, 2), draw.sample(bank().things, 2), draw.whole(0, 1)
    text = f"{names[0]} has the {things[0]}. {names[1]} has the {things[1]}. Who has the {things[asked]}?"
    return Question(text, rf"\b{names[asked]}\b")


def _colour(draw: Draw) -> Question:
    names, things, asked = draw.sample(bank().names, 2), draw.sample(bank().things, 2), draw.whole(0, 1)
    colours = draw.sample(bank().colours, 2)
    told = [f"{name} has {_a(colour)} {thing}." for name, colour, thing in zip(names, colours, things, strict=True)]
    return Question(f"{' '.join(told)} What colour is the {things[asked]}?", rf"\b{colours[asked]}\b")


def _a(word: str) -> str:
    return f"{'an' if word[0] in 'aeiou' else 'a'} {word}"


def _place(draw: Draw) -> Question:
    things, places, asked = draw.sample(bank().things, 3), draw.sample(bank().places, 3), draw.whole(0, 2)
    told = ", the ".join(f"{thing} {'is ' * (not n)}in the {places[n]}" for n, thing in enumerate(things))
    return Question(f"The {told}. Where is the {things[asked]}?", rf"\b{places[asked]}\b")


def _code(draw: Draw) -> Question:
    letters = ["".join(draw.pick("BCDFGHKLMNPRSTVX") for _ in range(3)) for _ in range(2)]
    code = f"{letters[0]}-{draw.whole(100, 999)}-{letters[1]}"
    return Question(f"Repeat this code: {code}", rf"\b{code}\b")


def _larger(count: int) -> list[Question]:
    pairs = [(one, other) for one in range(10, 100) for other in range(10, 100) if one != other]
    # One more, since the example's own pair may be drawn.
    drawn = [pair for pair in Draw(SUITE, "larger").sample(pairs, count + 1) if pair != (31, 64)][:count]
    return [Question(f"Which number is larger, {one} or {other}?", rf"\b{max(one, other)}\b") for one, other in drawn]


def _letter(count: int) -> list[Question]:
    words = Draw(SUITE, "letter").sample(bank().words, count)
    return [
        Question(f"Which letter does the word {word} begin with?", rf"(?i)with (the letter )?\W?{word[0]}\b")
        for word in words
    ]


KINDS = {
    "owner": Kind("Anna has the hat. Ben has the bag. Who has the hat?", "Anna has the hat.", _each("owner", _owner)),
    "colour": Kind(
        "Anna has a red hat. Ben has a blue bag. What colour is the hat?", "The hat is red.", _each("colour", _colour)
    ),
    "place": Kind(
        "The key is in the hall, the phone in the car, the pan in the shed. Where is the phone?",
        "The phone is in the car.",
        _each("place", _place),
    ),
    "code": Kind("Repeat this code: QZ-71", "QZ-71", _each("code", _code), 13),
    "larger": Kind("Which number is larger, 31 or 64?", "The larger number is 64.", _larger),
    "letter": Kind("Which letter does the word table begin with?", "Table begins with T.", _letter),
}


def generate(each: int) -> list[dict[str, Any]]:
    """Return `each` cases of every kind, at most as many as there are words in the bank."""
    return [
        _case(name, number, kind, question)
        for name, kind in KINDS.items()
        for number, question in enumerate(kind.questions(each))
    ]


def _case(name: str, number: int, kind: Kind, question: Question) -> dict[str, Any]:
    turns = (("user", kind.example), ("assistant", kind.answer), ("user", question.text))
    return {
        "id": f"{name}-{number:03}",
        "messages": [{"role": role, "content": content} for role, content in turns],
        "graders": [{"kind": "regex", "pattern": question.pattern}],
        "tags": {"kind": name},
        "max_new_tokens": kind.max_new_tokens,
    }


def write_suite(folder: Path, each: int) -> Path:
    """Write the suite as a folder that `qeval run --suites` takes; return the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    header = f"name: {SUITE}\nversion: 1\ndescription: Short questions, to see planted damage.\n"
    write_atomic(folder / HEADER_FILE, header)
    write_atomic(folder / CASES_FILE, "".join(f"{dumps(case)}\n" for case in generate(each)))
    return folder
