"""Cases of the suite `multilingual`: read, answer, judge and translate in twelve languages of seven scripts."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

from qeval.suites.bank import read_bank
from qeval.suites.draw import Draw

N_CASES = {"smoke": 32, "standard": 320, "full": 1080}
# Thirteen places against twelve languages: each pair comes once in 156 cases.
ROUND = (
    "extract", "to_english", "judge", "next_day", "extract", "reply", "to_english", "cross",
    "from_english", "judge", "extract", "choose", "digits",
)  # fmt: skip
# A translation from a script other than Latin is hard as well.
DIFFICULTY = {
    "extract": "easy", "cross": "easy", "to_english": "medium", "judge": "medium", "choose": "medium",
    "reply": "medium", "from_english": "hard", "next_day": "hard", "digits": "hard",
}  # fmt: skip


class Language(NamedTuple):
    """A language's own part of the bank, and what all languages share."""

    code: str
    own: dict[str, Any]
    shared: dict[str, Any]


class Fact(NamedTuple):
    """One sentence of a text: what it is about, its value, how it is said and asked."""

    key: str
    slot: str
    value: str
    sentence: str
    question: str
    english: str
    untrue: str
    """The same sentence with another value."""


class Talk(NamedTuple):
    """A case's turns, its graders, and what else is peculiar to it."""

    system: str
    turns: list[str]
    graders: list[dict[str, Any]]
    group: str
    """What it shares with other cases of its language: the text's template, or the word list."""
    max_new_tokens: int = 12


def generate(size: str, seed: int) -> list[dict[str, Any]]:
    """Return the cases of a size; a larger size begins with the cases of the smaller ones."""
    bank = read_bank(Path(__file__).with_name("bank.yaml"))
    languages = [Language(code, own, bank) for code, own in bank["languages"].items()]
    cases: list[dict[str, Any]] = []
    seen: set[str] = set()
    for number in range(N_CASES[size]):
        language, kind = languages[number % len(languages)], ROUND[number % len(ROUND)]
        cases.append(_case(number, kind, language, _new_talk(seed, number, kind, language, seen)))
    return cases


def _new_talk(seed: int, number: int, kind: str, language: Language, seen: set[str]) -> Talk:
    """Draw until the turns are new ones."""
    for attempt in count():
        talk = MAKERS[kind](Draw(seed, number, attempt), language)
        if (turns := "\n".join(talk.turns)) not in seen:
            seen.add(turns)
            return talk
    raise AssertionError("count() never ends")


def _case(number: int, kind: str, language: Language, talk: Talk) -> dict[str, Any]:
    roles = ("user", "assistant")
    return {
        "id": f"multilingual-{number:04d}",
        "messages": [
            {"role": "system", "content": talk.system},
            *({"role": roles[index % 2], "content": text} for index, text in enumerate(talk.turns)),
        ],
        "graders": talk.graders,
        "tags": {
            "kind": kind,
            "lang": language.code,
            "script": language.own["script"],
            "difficulty": _difficulty(kind, language),
            "copy": "yes" if kind in {"extract", "cross"} else "no",
        },
        "cluster": f"{language.code}-{talk.group}",
        "max_new_tokens": talk.max_new_tokens,
    }


def _difficulty(kind: str, language: Language) -> str:
    return "hard" if kind == "to_english" and language.own["script"] != "Latin" else DIFFICULTY[kind]


def _extract(draw: Draw, language: Language) -> Talk:
    return _read(draw, language, language.own["short"], english=False)


def _cross(draw: Draw, language: Language) -> Talk:
    system = f"Answer the question about the {language.own['name']} text with a word or number from the text."
    return _read(draw, language, system, english=True)


def _read(draw: Draw, language: Language, system: str, *, english: bool) -> Talk:
    """A text with its answer as the example, and another with the same question."""
    group = draw.pick(list(language.shared["texts"]))
    places = draw.sample(range(3), 2)
    turns: list[str] = []
    while True:
        facts = _facts(draw, language, group)
        asked = facts[places[0]]
        if asked.value in turns:
            continue
        text = _join([facts[place] for place in sorted(places)], language)
        turns.append(f"{text}\n{asked.english if english else asked.question}")
        if len(turns) == 3:
            return Talk(system, turns, [_value_grader(asked)], group)
        turns.append(asked.value)


def _judge(draw: Draw, language: Language) -> Talk:
    """Two claims about a text are judged as an example, one of them true; the third is asked."""
    group = draw.pick(list(language.shared["texts"]))
    facts = _facts(draw, language, group)
    order, own = draw.shuffled(facts), language.own
    truths = [*draw.shuffled([True, False]), draw.pick([True, False])]
    claims = [fact.sentence if true else fact.untrue for fact, true in zip(order, truths, strict=True)]
    words = [own["agree"] if true else own["deny"] for true in truths]
    turns = [f"{_join(facts, language)}\n{claims[0]}", words[0], claims[1], words[1], claims[2]]
    other = (own.get("not_agree") or [own["deny"]]) if truths[2] else (own.get("not_deny") or [own["agree"]])
    graders = [{"kind": "contains", "value": words[2]}, {"kind": "not_contains", "values": other}]
    return Talk(own["claim"], turns, graders, group)


def _to_english(draw: Draw, language: Language) -> Talk:
    return _translate(draw, language, to_english=True)


def _from_english(draw: Draw, language: Language) -> Talk:
    return _translate(draw, language, to_english=False)


def _translate(draw: Draw, language: Language, *, to_english: bool) -> Talk:
    """Two words of a list are translated as examples, a third is asked."""
    category = draw.pick(list(language.shared["english"]))
    pairs = list(zip(language.own["words"][category], language.shared["english"][category], strict=True))
    if not to_english:
        pairs = [(english, own) for own, english in pairs]
    first, second, asked = draw.sample(pairs, 3)
    name = language.own["name"]
    source, target = (name, "English") if to_english else ("English", name)
    turns = [first[0], first[1], second[0], second[1], asked[0]]
    system = f"Translate each word from {source} to {target}."
    return Talk(system, turns, [{"kind": "contains", "value": asked[1]}], f"words-{category}")


def _choose(draw: Draw, language: Language) -> Talk:
    """Name the animal, food or colour among three words, after one example."""
    own = language.own
    category = draw.pick(list(own["choose"]))
    rights = draw.sample(own["words"][category], 2)
    others = draw.sample([word for key in ("thing", "nature", "person") for word in own["words"][key]], 4)
    comma = "、" if own["script"] in {"Han", "Kana"} else ", "
    options = [draw.shuffled([rights[0], *others[:2]]), draw.shuffled([rights[1], *others[2:]])]
    asked = [own["choose"][category].format(words=comma.join(words)) for words in options]
    graders = [{"kind": "contains", "value": rights[1]}, {"kind": "not_contains", "values": others[2:]}]
    return Talk(own["short"], [asked[0], rights[0], asked[1]], graders, f"choose-{category}")


def _next_day(draw: Draw, language: Language) -> Talk:
    days, own = language.own["weekday"], language.own
    shown, asked = draw.sample(range(7), 2)
    question = own["next_day"]
    turns = [question.format(day=days[shown]), days[(shown + 1) % 7], question.format(day=days[asked])]
    graders = [{"kind": "contains", "value": days[(asked + 1) % 7]}]
    return Talk(own["short"], turns, graders, "days")


def _digits(draw: Draw, language: Language) -> Talk:
    pairs = list(zip(language.own["number_words"], language.shared["numbers"], strict=True))
    first, second, asked = draw.sample(pairs, 3)
    ask = language.own["digits"]
    turns = [ask.format(word=first[0]), str(first[1]), ask.format(word=second[0]), str(second[1])]
    turns.append(ask.format(word=asked[0]))
    return Talk(language.own["short"], turns, [{"kind": "number", "value": asked[1], "which": "first"}], "numbers")


def _reply(draw: Draw, language: Language) -> Talk:
    """English questions answered in another language: the third answer must be in that language, whatever it says."""
    group = draw.pick(list(language.shared["texts"]))
    first, second, asked = draw.shuffled(_facts(draw, language, group))
    system = f"You answer every question in {language.own['name']}, with one short sentence."
    turns = [first.english, first.sentence, second.english, second.sentence, asked.english]
    return Talk(system, turns, [{"kind": "language", "lang": language.code}], f"reply-{group}", 24)


def _facts(draw: Draw, language: Language, group: str) -> list[Fact]:
    """Draw the three facts of a short text."""
    name = draw.pick(language.own["names"])
    facts = []
    for key, slot in language.shared["texts"][group].items():
        value, other = draw.sample(_values(language, slot), 2)
        sentence, question = language.own["facts"][key]
        english = language.shared["questions"][key].format(name=name)
        said, untrue = (sentence.format(name=name, value=each) for each in (value, other))
        facts.append(Fact(key, slot, value, said, question.format(name=name), english, untrue))
    return facts


def _values(language: Language, slot: str) -> list[str]:
    own, shared = language.own, language.shared
    numbers = {"number": shared["numbers"], "hour": shared["hours"]}
    if slot in numbers:
        return [str(number) for number in numbers[slot]]
    values: list[str] = {"name": own["names"], "city": own["cities"], "weekday": own["weekday"]}.get(slot) or own[
        "words"
    ][slot]
    return values


def _value_grader(fact: Fact) -> dict[str, Any]:
    if fact.slot in {"number", "hour"}:
        return {"kind": "number", "value": int(fact.value), "which": "first"}
    return {"kind": "contains", "value": fact.value}


def _join(facts: list[Fact], language: Language) -> str:
    return ("" if language.own["script"] in {"Han", "Kana"} else " ").join(fact.sentence for fact in facts)


MAKERS: dict[str, Callable[[Draw, Language], Talk]] = {
    "extract": _extract,
    "cross": _cross,
    "judge": _judge,
    "to_english": _to_english,
    "from_english": _from_english,
    "choose": _choose,
    "next_day": _next_day,
    "digits": _digits,
    "reply": _reply,
}
