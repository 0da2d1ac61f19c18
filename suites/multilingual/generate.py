"""Cases of the suite `multilingual`: reading, answering and writing in eighteen languages of twelve scripts."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

from qeval.suites.bank import read_bank
from qeval.suites.draw import Draw

from .figures import date_read, date_write, number_read, number_write
from .language import Fact, Language, Talk, draw_facts, is_latin, join, value_graders, word_graders, word_room

N_CASES = {"smoke": 32, "standard": 360, "full": 1080}
# Cheap to read first, since the first languages come twice at smoke.
LANGUAGES = (
    "de", "zh", "pt", "fr", "el", "he", "ja", "es", "tr", "it", "ar", "ko", "ru", "fa", "hi", "bn", "th", "ta",
)  # fmt: skip
# Nineteen places against eighteen languages: each pair comes once in 342 cases.
ROUND = (
    "extract", "to_english", "judge", "number_read", "switch", "from_english", "choose", "cross", "date_write",
    "extract", "digits", "to_english", "cross_text", "reply", "date_read", "reply", "number_write", "next_day", "reply",
)  # fmt: skip
# A translation from a script other than Latin is hard as well.
DIFFICULTY = {
    "extract": "easy", "cross": "easy", "cross_text": "easy", "to_english": "medium", "judge": "medium",
    "choose": "medium", "reply": "medium", "switch": "medium", "date_read": "medium", "number_read": "medium",
    "from_english": "hard", "next_day": "hard", "digits": "hard", "date_write": "hard", "number_write": "hard",
}  # fmt: skip
COPIES = frozenset({"extract", "cross", "cross_text", "switch"})


def generate(size: str, seed: int) -> list[dict[str, Any]]:
    """Return the cases of a size; a larger size begins with the cases of the smaller ones."""
    folder = Path(__file__).parent
    shared = read_bank(folder / "bank.yaml")
    languages = [Language(code, read_bank(folder / "languages" / f"{code}.yaml"), shared) for code in LANGUAGES]
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
            "copy": "yes" if kind in COPIES else "no",
        },
        "cluster": f"{language.code}-{talk.group}",
        "max_new_tokens": talk.max_new_tokens,
    }


def _difficulty(kind: str, language: Language) -> str:
    return "hard" if kind == "to_english" and not is_latin(language) else DIFFICULTY[kind]


def _extract(draw: Draw, language: Language) -> Talk:
    """A text and a question of one language."""
    return _read(draw, language, language.own["short"], lambda fact: (fact.sentence, fact.question))


def _cross(draw: Draw, language: Language) -> Talk:
    """A text of the language, the question in English."""
    system = f"Answer the question about the {language.own['name']} text with a word or number from the text."
    return _read(draw, language, system, lambda fact: (fact.sentence, fact.ask_in_english))


def _switch(draw: Draw, language: Language) -> Talk:
    """Sentences of the language and of English in turn, the question inside an English phrase."""
    english = draw.pick([0, 1])
    frame = draw.pick(language.shared["mixed"])

    def put(fact: Fact) -> tuple[str, str]:
        nonlocal english
        english += 1
        said = f" {fact.english} " if english % 2 else fact.sentence
        return said, frame.format(question=fact.question)

    return _read(draw, language, f"Answer in {language.own['name']}, with a word or number from the text.", put)


def _read(draw: Draw, language: Language, system: str, put: Callable[[Fact], tuple[str, str]]) -> Talk:
    """Write a text with its answer as the example, and another with the same question.

    Args:
        draw: where values come from.
        language: of the values.
        system: what is asked of the model.
        put: how a fact is said in the text and asked.
    """
    group = draw.pick(list(language.shared["texts"]))
    places = draw.sample(range(3), 2)
    turns: list[str] = []
    while True:
        facts = draw_facts(draw, language, group)
        asked = facts[places[0]]
        if asked.value in turns:
            continue
        told = {place: put(facts[place]) for place in sorted(places)}
        turns.append(f"{join([said for said, _ in told.values()], language)}\n{told[places[0]][1]}")
        if len(turns) == 3:
            return Talk(system, turns, value_graders(asked, language), group, word_room(language))
        turns.append(asked.value)


def _cross_text(draw: Draw, language: Language) -> Talk:
    """A text in English, the question in the language; the answer is a number, which both write alike."""
    group, turns = draw.pick(list(language.shared["texts"])), list[str]()
    place = [slot in {"number", "hour"} for slot in language.shared["texts"][group].values()].index(True)
    other = draw.pick([number for number in range(3) if number != place])
    while True:
        facts = draw_facts(draw, language.english, group)
        asked = facts[place]
        if asked.value in turns:
            continue
        question = language.own["facts"][asked.key][1].format(name=asked.name)
        text = " ".join(facts[each].sentence for each in sorted([place, other]))
        turns.append(f"{text}\n{question}")
        if len(turns) == 3:
            return Talk(language.own["short"], turns, value_graders(asked, language), f"english-{group}")
        turns.append(asked.value)


def _judge(draw: Draw, language: Language) -> Talk:
    """Two claims about a text are judged as an example, one of them true; the third is asked."""
    group = draw.pick(list(language.shared["texts"]))
    facts = draw_facts(draw, language, group)
    order, own = draw.shuffled(facts), language.own
    truths = [*draw.shuffled([True, False]), draw.pick([True, False])]
    claims = [fact.sentence if true else fact.untrue for fact, true in zip(order, truths, strict=True)]
    words = [own["agree"] if true else own["deny"] for true in truths]
    turns = [
        f"{join([fact.sentence for fact in facts], language)}\n{claims[0]}",
        words[0],
        claims[1],
        words[1],
        claims[2],
    ]
    other = (own.get("not_agree") or [own["deny"]]) if truths[2] else (own.get("not_deny") or [own["agree"]])
    graders = [{"kind": "contains", "value": words[2]}, {"kind": "not_contains", "values": other}]
    return Talk(own["claim"], turns, graders, group, word_room(language))


def _to_english(draw: Draw, language: Language) -> Talk:
    return _translate(draw, language, to_english=True)


def _from_english(draw: Draw, language: Language) -> Talk:
    return _translate(draw, language, to_english=False)


def _translate(draw: Draw, language: Language, *, to_english: bool) -> Talk:
    """Two words of a list are translated as examples, a third is asked."""
    category = draw.pick(list(language.english.own["words"]))
    pairs = list(zip(language.own["words"][category], language.english.own["words"][category], strict=True))
    if not to_english:
        pairs = [(english, own) for own, english in pairs]
    first, second, asked = draw.sample(pairs, 3)
    name = language.own["name"]
    source, target = (name, "English") if to_english else ("English", name)
    turns = [first[0], first[1], second[0], second[1], asked[0]]
    system = f"Translate each word from {source} to {target}."
    limit = 12 if to_english else word_room(language)
    return Talk(system, turns, [{"kind": "contains", "value": asked[1]}], f"words-{category}", limit)


def _choose(draw: Draw, language: Language) -> Talk:
    """Name the animal, food or colour among three words, after one example."""
    own = language.own
    category = draw.pick(list(own["choose"]))
    rights = draw.sample(own["words"][category], 2)
    # A wrong word inside a right one (in Persian, moon in fish) could not be told from it.
    words = [word for key in ("thing", "nature", "person") for word in own["words"][key] if word not in rights[1]]
    others = draw.sample(words, 4)
    comma = {"Han": "、", "Kana": "、", "Arabic": "، "}.get(own["script"], ", ")
    options = [draw.shuffled([rights[0], *others[:2]]), draw.shuffled([rights[1], *others[2:]])]
    asked = [own["choose"][category].format(words=comma.join(words)) for words in options]
    graders = [{"kind": "contains", "value": rights[1]}, {"kind": "not_contains", "values": others[2:]}]
    return Talk(own["short"], [asked[0], rights[0], asked[1]], graders, f"choose-{category}")


def _next_day(draw: Draw, language: Language) -> Talk:
    days, own = language.own["weekday"], language.own
    shown, asked = draw.sample(range(7), 2)
    question = own["next_day"]
    turns = [question.format(day=days[shown]), days[(shown + 1) % 7], question.format(day=days[asked])]
    return Talk(own["short"], turns, word_graders(days[(asked + 1) % 7], days), "days", word_room(language))


def _digits(draw: Draw, language: Language) -> Talk:
    pairs = list(zip(language.own["number_words"], language.shared["numbers"], strict=True))
    shown, asked = draw.sample(pairs, 2)
    ask = language.own["digits"]
    turns = [ask.format(word=shown[0]), str(shown[1]), ask.format(word=asked[0])]
    return Talk(language.own["short"], turns, [{"kind": "number", "value": asked[1], "which": "first"}], "numbers")


def _reply(draw: Draw, language: Language) -> Talk:
    """English questions answered in another language, whatever the answer says.

    Three sentences are asked for, since forty letters are needed to tell languages of one script apart.
    """
    shown, asked = draw.sample(language.shared["texts"], 2)
    facts = draw_facts(draw, language, shown)
    system = f"You answer all questions in {language.own['name']}, each with a short sentence."
    questions = " ".join(fact.ask_in_english for fact in draw_facts(draw, language, asked))
    turns = [" ".join(fact.ask_in_english for fact in facts), join([fact.sentence for fact in facts], language)]
    graders = [{"kind": "language", "lang": language.code}]
    return Talk(system, [*turns, questions], graders, f"reply-{asked}", 32 if is_latin(language) else 24)


MAKERS: dict[str, Callable[[Draw, Language], Talk]] = {
    "extract": _extract,
    "cross": _cross,
    "cross_text": _cross_text,
    "switch": _switch,
    "judge": _judge,
    "to_english": _to_english,
    "from_english": _from_english,
    "choose": _choose,
    "next_day": _next_day,
    "digits": _digits,
    "reply": _reply,
    "date_read": date_read,
    "date_write": date_write,
    "number_read": number_read,
    "number_write": number_write,
}
