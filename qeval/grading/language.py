"""The answer is in the language asked for."""

from __future__ import annotations

import regex
from pydantic import Field, field_validator

from qeval.errors import unknown_name
from qeval.grading._grades import failed, fault_of, no_text, passed, ungraded
from qeval.grading._languages import canonical, count_letters, guesses, known_languages, prose, script_fits
from qeval.grading.base import Answer, Question
from qeval.outcome import Grade
from qeval.strict import Strict

METRIC = "language"
LEAST_LETTERS = 40
"""Fewer letters than this are judged by their script alone."""
LEAST_FOREIGN = 12
"""Fewer letters than this in a foreign script may be a name or a formula, so they are not judged."""
LEAST_SHARE = 0.8
"""Share of the letters that must stand in lines of the language asked for."""
_SURE = 0.5
_POSSIBLE = 0.15
_CLOSE = ({"nb", "nn", "da"}, {"hr", "bs", "sr"}, {"id", "ms"}, {"cs", "sk"}, {"es", "ca"}, {"mk", "bg"}, {"af", "nl"})


class Options(Strict):
    """The language asked for."""

    lang: str = Field(min_length=2)
    """BCP 47 tag; its primary subtag counts."""

    @field_validator("lang")
    @classmethod
    def _is_known(cls, value: str) -> str:
        if canonical(value) not in known_languages():
            raise ValueError(str(unknown_name("language", value, known_languages())))
        return value


def grade(options: Options, answer: Answer, question: Question) -> tuple[Grade, ...]:
    """Pass where at least 80 % of the letters stand in lines of the language; the score is that share."""
    if (empty := no_text(METRIC, answer)) is not None:
        return (empty,)
    wanted = canonical(options.lang)
    text = prose(answer.text)
    n_letters = count_letters(text)
    if n_letters < LEAST_LETTERS:
        return (_short(text, wanted, n_letters, answer),)
    foreign: dict[str, int] = {}
    for line in _stretches(text):
        other = _other_language(line, wanted)
        if other is not None:
            foreign[other] = foreign.get(other, 0) + count_letters(line)
    share = 1 - sum(foreign.values()) / n_letters
    if share >= LEAST_SHARE:
        return (passed(METRIC, score=min(1.0, share)),)
    most = max(foreign, key=lambda name: foreign[name])
    reason = f"expected {wanted}, {100 * (1 - share):.0f} % of the letters are in another language, most in {most}"
    return (failed(METRIC, fault_of(answer, "wrong_language"), reason, score=max(0.0, share)),)


def _short(text: str, wanted: str, n_letters: int, answer: Answer) -> Grade:
    if n_letters and script_fits(text, wanted):
        return passed(METRIC, f"{n_letters} letters, too few to tell the language; the script fits")
    if n_letters < LEAST_FOREIGN:
        return ungraded(METRIC, "too_short", f"{n_letters} letters, too few to tell the language", required=False)
    reason = f"expected {wanted}, but the letters are of another script"
    return failed(METRIC, fault_of(answer, "wrong_language"), reason)


def _stretches(text: str) -> list[str]:
    """Return the text in lines, short ones joined to the next, each long enough to be judged."""
    stretches: list[str] = []
    waiting = ""
    for line in regex.split(r"\n+|(?<=[.!?。！？؟।])\s+(?=\p{Lu})", text):
        waiting = f"{waiting} {line}".strip()
        if count_letters(waiting) >= LEAST_LETTERS:
            stretches.append(waiting)
            waiting = ""
    if waiting and stretches:
        stretches[-1] += f" {waiting}"
    return stretches or [waiting]


def _other_language(line: str, wanted: str) -> str | None:
    """Return the language of a line where it is surely another than the one asked for."""
    found = guesses(line)
    if not found or found[0].language == wanted:
        return None
    best = found[0]
    own = next((guess.confidence for guess in found if guess.language == wanted), 0.0)
    close = any({best.language, wanted} <= group for group in _CLOSE)
    if best.confidence < _SURE or own >= (_POSSIBLE / 10 if close else _POSSIBLE):
        return None
    return None if wanted == "ja" and best.language == "zh" and count_letters(line) < LEAST_LETTERS else best.language
