"""The answer is in the language asked for."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

import regex
from pydantic import Field, field_validator

from qeval.errors import unknown_name
from qeval.grading._grades import failed, fault_of, no_text, passed, ungraded
from qeval.grading._identify import close_language, other_characters, other_language
from qeval.grading._languages import Target, canonical, known_languages, target
from qeval.grading._scripts import (
    count_letters,
    count_words,
    is_prose,
    only,
    prose,
    script_of,
    without_names,
    without_quotations,
)
from qeval.grading.base import Answer, Question
from qeval.outcome import Grade
from qeval.strict import Strict

METRIC = "language"
LEAST_SHARE = 0.75
"""Share of the letters that must be in the language asked for."""
LEAST_WORD = 12
"""Letters from which one word in another script fails; a shorter one may be a name or a formula."""
LEAST_LETTERS = 20
"""Letters from which a stretch is judged on its own; fewer are judged by their script alone."""
_SET_ASIDE = 3
"""Letters of names and quotations in other scripts that one letter of the language's own excuses."""
_ODDS = 1.5
"""Decadic logarithm: 30 times likelier than the language asked for."""
_ODDS_SHORT = 2.0
"""The same for a short stretch: 100 times."""
_SHORT = 40
"""Letters below which a stretch is short."""
_SENTENCE_END = regex.compile(r"\n+|(?<=[.!?。！？؟।۔])\s+(?=[\p{Lu}\p{Lo}])")


class Options(Strict):
    """The language asked for."""

    lang: str = Field(min_length=2)
    """BCP 47 tag. A script subtag (`sr-Latn`, `zh-Hant`) counts as well; other regions than Chinese ones do not."""

    @field_validator("lang")
    @classmethod
    def _is_known(cls, value: str) -> str:
        if canonical(value) not in known_languages():
            raise ValueError(str(unknown_name("language", value, known_languages())))
        try:
            target(value)
        except KeyError as error:
            raise ValueError(
                f"{value}: {error} is no script known here; leave it out or give one such as Latn"
            ) from None
        return value


class _Reading(NamedTuple):
    """What the letters of an answer are, in letters."""

    own: int
    """In the scripts of the language asked for."""
    foreign: Counter[str]
    """In another script or language, by its name."""
    told: bool
    """Whether any stretch was long enough, and more than names, so that its language can be told."""


def grade(options: Options, answer: Answer, question: Question) -> tuple[Grade, ...]:
    """Pass where at least three quarters of the letters are in the language; the score is that share."""
    if (empty := no_text(METRIC, answer)) is not None:
        return (empty,)
    wanted = target(options.lang)
    text = prose(answer.text)
    counts = count_letters(text)
    if not any(counts[script] for script in wanted.scripts):
        return (_without_own(text, counts, options, answer),)
    read = _read(text, wanted)
    share = 1 - read.foreign.total() / (read.own + read.foreign.total())
    if share < LEAST_SHARE:
        most = read.foreign.most_common(1)[0][0]
        reason = f"expected {options.lang}, {100 * (1 - share):.0f} % of the letters are in another language or script"
        return (_wrong(answer, f"{reason}, most in {most}", share),)
    own = only(text, wanted.scripts)
    close = close_language(own, wanted) or other_characters(own, wanted)
    if close is not None:
        return (_wrong(answer, f"expected {options.lang}, but its words or characters are those of {close}", 0.0),)
    if not read.told:
        return (passed(METRIC, f"{read.own} letters, too few or only names, to tell the language; the script fits"),)
    return (passed(METRIC, score=share),)


def _wrong(answer: Answer, reason: str, share: float | None = None) -> Grade:
    return failed(METRIC, fault_of(answer, "wrong_language"), reason, score=share)


def _without_own(text: str, counts: Counter[str], options: Options, answer: Answer) -> Grade:
    """Grade an answer without a letter of the language's own script."""
    # A single letter of an alphabet counts here, since there is nothing else.
    n_letters = max(counts.total(), sum(script_of(character) is not None for character in text))
    if n_letters < LEAST_WORD and count_words(text) < 2:
        return ungraded(METRIC, "too_short", f"{n_letters} letters, too few to tell the language", required=False)
    names = ", ".join(counts) or "another script"
    return _wrong(answer, f"expected {options.lang}, but the letters are {names}", 0.0)


def _read(text: str, wanted: Target) -> _Reading:
    kept, set_aside = without_quotations(text, wanted.scripts)
    if "Latin" not in wanted.scripts:
        kept, in_names = without_names(kept)
        set_aside += in_names
    counts = count_letters(kept)
    own = sum(counts.pop(script, 0) for script in wanted.scripts)
    foreign = Counter({f"{script} letters": n for script, n in counts.items()})
    excess = set_aside - _SET_ASIDE * own
    if excess > 0:
        foreign["names and quotations"] += excess
    told = False
    for stretch in _stretches(only(kept, wanted.scripts)):
        if not _can_be_told(stretch, wanted):
            continue
        told = True
        n_letters = count_letters(stretch).total()
        other = other_language(stretch, wanted, _ODDS if n_letters >= _SHORT else _ODDS_SHORT)
        if other is not None:
            foreign[other] += n_letters
            own -= n_letters
    return _Reading(own, foreign, told)


def _can_be_told(stretch: str, wanted: Target) -> bool:
    """Return whether a stretch is long enough, more than names, and in a script that the model knows."""
    counts = count_letters(stretch)
    if counts.total() < LEAST_LETTERS or counts.most_common(1)[0][0] not in wanted.told:
        return False
    return wanted.language in {"ja", "zh"} or is_prose(stretch)


def _stretches(text: str) -> list[str]:
    """Return the text in lines and sentences, short ones joined to the next until they have letters enough."""
    stretches: list[str] = []
    waiting = ""
    for line in _SENTENCE_END.split(text):
        waiting = f"{waiting} {line}".strip()
        if count_letters(waiting).total() >= LEAST_LETTERS:
            stretches.append(waiting)
            waiting = ""
    if waiting and stretches:
        stretches[-1] += f" {waiting}"
    return stretches or [waiting]
