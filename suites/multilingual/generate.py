"""Cases of the suite `multilingual`: reading, answering and writing in eighteen languages of twelve scripts."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

from qeval.suites.bank import read_bank
from qeval.suites.draw import Draw
from qeval.suites.number_styles import ENGLISH, NumberStyle, write_number

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
    return "hard" if kind == "to_english" and not _is_latin(language) else DIFFICULTY[kind]


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
        facts = _facts(draw, language, group)
        asked = facts[places[0]]
        if asked.value in turns:
            continue
        told = {place: put(facts[place]) for place in sorted(places)}
        turns.append(f"{_join([said for said, _ in told.values()], language)}\n{told[places[0]][1]}")
        if len(turns) == 3:
            return Talk(system, turns, _value_graders(asked, language), group, _word_room(language))
        turns.append(asked.value)


def _cross_text(draw: Draw, language: Language) -> Talk:
    """A text in English, the question in the language; the answer is a number, which both write alike."""
    group, turns = draw.pick(list(language.shared["texts"])), list[str]()
    place = [slot in {"number", "hour"} for slot in language.shared["texts"][group].values()].index(True)
    other = draw.pick([number for number in range(3) if number != place])
    while True:
        facts = _facts(draw, language.english, group)
        asked = facts[place]
        if asked.value in turns:
            continue
        question = language.own["facts"][asked.key][1].format(name=asked.name)
        text = " ".join(facts[each].sentence for each in sorted([place, other]))
        turns.append(f"{text}\n{question}")
        if len(turns) == 3:
            return Talk(language.own["short"], turns, _value_graders(asked, language), f"english-{group}")
        turns.append(asked.value)


def _judge(draw: Draw, language: Language) -> Talk:
    """Two claims about a text are judged as an example, one of them true; the third is asked."""
    group = draw.pick(list(language.shared["texts"]))
    facts = _facts(draw, language, group)
    order, own = draw.shuffled(facts), language.own
    truths = [*draw.shuffled([True, False]), draw.pick([True, False])]
    claims = [fact.sentence if true else fact.untrue for fact, true in zip(order, truths, strict=True)]
    words = [own["agree"] if true else own["deny"] for true in truths]
    turns = [
        f"{_join([fact.sentence for fact in facts], language)}\n{claims[0]}",
        words[0],
        claims[1],
        words[1],
        claims[2],
    ]
    other = (own.get("not_agree") or [own["deny"]]) if truths[2] else (own.get("not_deny") or [own["agree"]])
    graders = [{"kind": "contains", "value": words[2]}, {"kind": "not_contains", "values": other}]
    return Talk(own["claim"], turns, graders, group, _word_room(language))


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
    limit = 12 if to_english else _word_room(language)
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
    return Talk(own["short"], turns, _word_graders(days[(asked + 1) % 7], days), "days", _word_room(language))


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
    facts = _facts(draw, language, shown)
    system = f"You answer all questions in {language.own['name']}, each with a short sentence."
    questions = " ".join(fact.ask_in_english for fact in _facts(draw, language, asked))
    turns = [" ".join(fact.ask_in_english for fact in facts), _join([fact.sentence for fact in facts], language)]
    graders = [{"kind": "language", "lang": language.code}]
    return Talk(system, [*turns, questions], graders, f"reply-{asked}", 32 if _is_latin(language) else 24)


def _date_read(draw: Draw, language: Language) -> Talk:
    (shown, first, _), (wanted, asked, _) = _dates(draw, language, 2)
    texts = [language.own["date_said"].format(date=date) for date in (first, asked)]
    graders = [{"kind": "contains", "value": wanted}]
    return Talk("Write the date as YYYY-MM-DD.", [texts[0], shown, texts[1]], graders, "date-read")


def _date_write(draw: Draw, language: Language) -> Talk:
    (one, first, _), (two, second, _), (three, asked, parts) = _dates(draw, language, 3)
    graders = [{"kind": "contains", "values": parts}]
    limit = _room(asked)
    return Talk(f"Write the date in {language.own['name']}.", [one, first, two, second, three], graders, "dates", limit)


def _dates(draw: Draw, language: Language, count: int) -> list[tuple[str, str, list[str]]]:
    """Return dates, each as YYYY-MM-DD, in the language, and its parts there; no day is a month's number."""
    days, own = draw.sample(range(13, 29), count), language.own
    dates = []
    for day in days:
        month, year = draw.whole(1, 12), draw.whole(2023, 2034)
        parts = [_own_digits(text, language) for text in (str(day), own["months"][month - 1], str(year))]
        written = own["date"].format(day=parts[0], month=parts[1], year=parts[2])
        # Where months are numbers, only the whole is a date.
        dates.append((f"{year}-{month:02d}-{day:02d}", written, [written] if parts[1][0].isdigit() else parts))
    return dates


def _own_digits(text: str, language: Language) -> str:
    """Return the text with its digits as the language's dates are most often written."""
    digits = language.own["number"].get("digits") if language.code in {"ar", "fa", "bn"} else None
    return text.translate(str.maketrans("0123456789", digits)) if digits else text


def _number_read(draw: Draw, language: Language) -> Talk:
    pairs = [(own, [*english, *_unmarked(english)]) for english, own in _three_numbers(draw, language)]
    system = f"Write each {language.own['name']} number in English digits."
    return _rewrite(system, pairs, "number-read")


def _unmarked(writings: list[str]) -> list[str]:
    """Return English writings without their group marks, which programs leave out."""
    return [writing.replace(",", "") for writing in writings]


def _number_write(draw: Draw, language: Language) -> Talk:
    system = f"Write each number as it is written in {language.own['name']}."
    return _rewrite(system, _three_numbers(draw, language), "number-write")


def _rewrite(system: str, pairs: list[tuple[list[str], list[str]]], group: str) -> Talk:
    """Two numbers rewritten as examples, a third asked; its writing must fit code point by code point."""
    (one, first), (two, second), (three, asked) = pairs
    graders = [{"kind": "exact", "values": asked, "mode": "strict"}]
    return Talk(system, [one[0], first[0], two[0], second[0], three[0]], graders, group, _room(asked[0]))


def _three_numbers(draw: Draw, language: Language) -> list[tuple[list[str], list[str]]]:
    """Draw numbers and return how each is written in English and in the language, the usual ways first."""
    style = NumberStyle(**language.own["number"])
    numbers: list[tuple[int, int]] = []
    while len(numbers) < 3:
        if style.unit:
            step = style.unit_is // 100
            number = (draw.whole(2, 9) * style.unit_is + draw.whole(11, 98) * step, 0)
            number = number if step > 10 else (draw.whole(12, 98) * style.unit_is, 0)
        elif style.lakh:
            number = (draw.whole(100_001, 9_899_999), 0)
        else:
            number = (draw.whole(1_001, 98_999), 5 * draw.whole(1, 19))
        if number not in numbers:
            numbers.append(number)
    return [(write_number(*number, ENGLISH), write_number(*number, style)) for number in numbers]


def _room(answer: str) -> int:
    """Return a limit in tokens that an answer with digits fits into; many tokenizers write other scripts in bytes."""
    return 12 if answer.isascii() else 24 if len(answer.encode()) <= 24 else 48


def _word_room(language: Language) -> int:
    return 24 if language.own["script"] in {"Thai", "Bengali", "Tamil"} else 12


def _facts(draw: Draw, language: Language, group: str) -> list[Fact]:
    """Draw the three facts of a short text."""
    name = draw.pick(language.own["names"])
    facts = []
    for key, slot in language.shared["texts"][group].items():
        value, other = draw.sample(_values(language, slot), 2)
        (sentence, question), (english, ask) = language.own["facts"][key], language.english.own["facts"][key]
        said, untrue, english = (
            form.format(name=name, value=each)
            for form, each in ((sentence, value), (sentence, other), (english, value))
        )
        questions = [form.format(name=name) for form in (question, ask)]
        facts.append(Fact(key, slot, name, value, said, questions[0], untrue, english, questions[1]))
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


def _value_graders(fact: Fact, language: Language) -> list[dict[str, Any]]:
    """Grade a value of a text; the script of a word is reported as a metric of its own."""
    if fact.slot in {"number", "hour"}:
        return [{"kind": "number", "value": int(fact.value), "which": "first"}]
    graders = _word_graders(fact.value, _values(language, fact.slot))
    # Where the script is Latin, a word is too short to tell its language.
    return graders if _is_latin(language) else [*graders, {"kind": "language", "lang": language.code}]


def _word_graders(word: str, words: list[str]) -> list[dict[str, Any]]:
    """Grade a word among others: it must be there, and none of those that hold it as a part."""
    graders: list[dict[str, Any]] = [{"kind": "contains", "value": word}]
    longer = [other for other in words if word in other and other != word]
    return [*graders, {"kind": "not_contains", "values": longer}] if longer else graders


def _is_latin(language: Language) -> bool:
    return bool(language.own["script"] == "Latin")


def _join(sentences: list[str], language: Language) -> str:
    """Return the sentences as a text; English ones bring blanks into languages that write none."""
    return " ".join(("" if language.own["script"] in {"Han", "Kana"} else " ").join(sentences).split())


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
    "date_read": _date_read,
    "date_write": _date_write,
    "number_read": _number_read,
    "number_write": _number_write,
}
