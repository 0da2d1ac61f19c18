"""What all kinds of case are made of: a language, the facts of a text, the turns and how they are graded."""

from __future__ import annotations

from typing import Any, NamedTuple

from qeval.suites.draw import Draw


class Language(NamedTuple):
    """A language's own bank, and what all languages share."""

    code: str
    own: dict[str, Any]
    shared: dict[str, Any]

    @property
    def english(self) -> Language:
        """English, for texts and questions put in it."""
        return Language("en", self.shared["english"], self.shared)


class Fact(NamedTuple):
    """One sentence of a text: what it is about, its value, how it is said and asked."""

    key: str
    slot: str
    name: str
    value: str
    sentence: str
    question: str
    untrue: str
    """The same sentence with another value."""
    english: str
    """The sentence in English, its name and value left as they are."""
    ask_in_english: str


class Talk(NamedTuple):
    """A case's turns, its graders, and what else is peculiar to it."""

    system: str
    turns: list[str]
    graders: list[dict[str, Any]]
    group: str
    """What it shares with other cases of its language: the text's template, or the word list."""
    max_new_tokens: int = 12


def room(answer: str) -> int:
    """Return a limit in tokens that an answer with digits fits into; many tokenizers write other scripts in bytes."""
    return 12 if answer.isascii() else 24 if len(answer.encode()) <= 24 else 48


def word_room(language: Language) -> int:
    """Return a limit in tokens that a word fits into."""
    return 24 if language.own["script"] in {"Thai", "Bengali", "Tamil"} else 12


def draw_facts(draw: Draw, language: Language, group: str) -> list[Fact]:
    """Draw the three facts of a short text."""
    name = draw.pick(language.own["names"])
    facts = []
    for key, slot in language.shared["texts"][group].items():
        value, other = draw.sample(slot_values(language, slot), 2)
        (sentence, question), (english, ask) = language.own["facts"][key], language.english.own["facts"][key]
        said, untrue, english = (
            form.format(name=name, value=each)
            for form, each in ((sentence, value), (sentence, other), (english, value))
        )
        questions = [form.format(name=name) for form in (question, ask)]
        facts.append(Fact(key, slot, name, value, said, questions[0], untrue, english, questions[1]))
    return facts


def slot_values(language: Language, slot: str) -> list[str]:
    """Return what a fact may say in a slot, such as all cities."""
    own, shared = language.own, language.shared
    numbers = {"number": shared["numbers"], "hour": shared["hours"]}
    if slot in numbers:
        return [str(number) for number in numbers[slot]]
    values: list[str] = {"name": own["names"], "city": own["cities"], "weekday": own["weekday"]}.get(slot) or own[
        "words"
    ][slot]
    return values


def value_graders(fact: Fact, language: Language) -> list[dict[str, Any]]:
    """Grade a value of a text; the script of a word is reported as a metric of its own."""
    if fact.slot in {"number", "hour"}:
        return [{"kind": "number", "value": int(fact.value), "which": "first"}]
    graders = word_graders(fact.value, slot_values(language, fact.slot))
    # Where the script is Latin, a word is too short to tell its language.
    return graders if is_latin(language) else [*graders, {"kind": "language", "lang": language.code}]


def word_graders(word: str, words: list[str]) -> list[dict[str, Any]]:
    """Grade a word among others: it must be there, and none of those that hold it as a part."""
    graders: list[dict[str, Any]] = [{"kind": "contains", "value": word}]
    longer = [other for other in words if word in other and other != word]
    return [*graders, {"kind": "not_contains", "values": longer}] if longer else graders


def is_latin(language: Language) -> bool:
    """Whether the language is written in Latin letters."""
    return bool(language.own["script"] == "Latin")


def join(sentences: list[str], language: Language) -> str:
    """Return the sentences as a text; English ones bring blanks into languages that write none."""
    return " ".join(("" if language.own["script"] in {"Han", "Kana"} else " ").join(sentences).split())
