"""Broken output: the one rule by which an answer is `degenerate`. docs/graders.md states it for readers.

The end of an answer counts, since a model that has fallen into a loop stays in it.
"""

from __future__ import annotations

import regex

from qeval.grading._asked import Asked
from qeval.grading._grades import shown
from qeval.grading._layout import closes, is_drawn, is_tabular, lines_of
from qeval.grading._loops import Loop, loops_at_end
from qeval.grading._readings import Reading, readings, without_cut_character
from qeval.grading._stammer import stammers

LONGEST_READ = 100_000
"""Characters at the end of an answer that are looked at, so that time is bounded."""
ONE_SYMBOL = 32
"""Times that one character stands at the end: a line of marks in speech ("Nooo!!!") is shorter."""
ONE_SYMBOL_CUT = 16
ONE_SEPARATOR = 8
"""Times that a comma, a colon or another mark stands there that nobody writes twice."""
LEAST_TURNS = 4
LEAST_REPEATED = 60
"""Characters that the turns after the first have together; a Chinese, Japanese or Korean one counts for two."""
LONG_UNIT = 100
LEAST_LONG_TURNS = 3
"""Turns of a unit of 100 characters or more: nobody says a paragraph three times in a row."""
LEAST_CUT_TURNS = 3
LEAST_CUT_REPEATED = 24
"""The same where the answer was cut at its limit, so that nothing says that the loop would have ended."""
LISTED_UNIT = 24
LEAST_LISTED_TURNS = 8
"""Equal items of a numbered list, and how long they are at least: answers to a test may be "1. A" to "20. A"."""
LEAST_BLANKS = 32
LEAST_MARKS = 32
MOST_KINDS_OF_MARKS = 3
LEAST_BROKEN = 8
BROKEN_SHARE = 0.1
"""Of the characters that are no blanks."""
STAMMER_READ = 4_000
STAMMER_READ_LEAST = 100
STAMMER_SHARE = 0.25
STAMMER_SHARE_CUT = 0.1
_BROKEN = regex.compile(r"[\uFFFD\p{Cs}\p{Co}[\p{Cc}--[\t\n\r\f]]]", regex.VERSION1)
_WIDE = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}]")
_MARKS = regex.compile(r"[\s\p{P}\p{Sm}\p{Sc}\p{Sk}]*+")
_DRAWING = frozenset("-=_*~#.+|<>/\\()[]{}")
"""Marks that drawings, Morse code and boxes to tick are made of."""
_SEPARATOR = frozenset(",;:،؛，、；：&%@^\"'`")


def why_degenerate(text: str, *, cut: bool, asked: Asked) -> str | None:
    """Return why an answer is broken, in words that end "the answer ...", or None where it is not.

    Args:
        text: the answer, or the thoughts that it ends in.
        cut: whether it was cut at its limit.
        asked: what the case asks for, which is never broken.
    """
    text = text[-LONGEST_READ:]
    why = _broken_characters(text) or _blank_end(text) or _marks_alone(text)
    if why is not None:
        return None if asked.holds(text.strip()) else why
    whole = without_cut_character(text) if cut else text
    for reading in readings(whole):
        for loop in loops_at_end(reading.text):
            if _repeats_much(loop, cut=cut, listed=reading.listed) and not _is_meant(
                loop, reading, whole, cut=cut, asked=asked
            ):
                return f"ends in {shown(loop.unit.strip(), 40)} {round(loop.turns):,} times"
    return _stammering(whole[-STAMMER_READ:], cut=cut, asked=asked)


def _broken_characters(text: str) -> str | None:
    broken = len(_BROKEN.findall(text))
    if broken < LEAST_BROKEN:
        return None
    filled = len("".join(text.split()))
    if broken < BROKEN_SHARE * filled:
        return None
    return f"holds {broken:,} replacement, control or private characters among {filled:,}"


def _blank_end(text: str) -> str | None:
    blanks = len(text) - len(text.rstrip())
    return f"ends in {blanks:,} blanks" if blanks >= LEAST_BLANKS else None


def _marks_alone(text: str) -> str | None:
    marks = set("".join(text.split()))
    few = len(text) >= LEAST_MARKS and len(marks) <= MOST_KINDS_OF_MARKS and not marks <= _DRAWING
    return f"is {len(text):,} punctuation marks and nothing else" if few and _MARKS.fullmatch(text) else None


def _stammering(text: str, *, cut: bool, asked: Asked) -> str | None:
    if len(text) < STAMMER_READ_LEAST:
        return None
    runs = [run for run in stammers(text) if not asked.holds(run.text) and (cut or not asked.counts(run))]
    share = sum(len(run.text) for run in runs) / len(text)
    if not runs or share < (STAMMER_SHARE_CUT if cut else STAMMER_SHARE):
        return None
    return f"stammers: {100 * share:.0f} % of it are repetitions such as {shown(runs[0].text, 40)}"


def _repeats_much(loop: Loop, *, cut: bool, listed: bool) -> bool:
    if loop.period == 1 and loop.unit in _SEPARATOR:
        return len(loop.text) >= ONE_SEPARATOR
    if loop.period == 1:
        return len(loop.text) >= (ONE_SYMBOL_CUT if cut else ONE_SYMBOL)
    repeated = _width(loop.text) - _width(loop.unit)
    # The blank after the last turn was taken off.
    turns = (len(loop.text) + 1) / loop.period
    if cut:
        return turns >= LEAST_CUT_TURNS and repeated >= LEAST_CUT_REPEATED
    if listed:
        return turns >= LEAST_LISTED_TURNS and _width(loop.unit) >= LISTED_UNIT
    least = LEAST_LONG_TURNS if loop.period >= LONG_UNIT else LEAST_TURNS
    return turns >= least and repeated >= LEAST_REPEATED


def _width(text: str) -> int:
    return len(text) + len(_WIDE.findall(text))


def _is_meant(loop: Loop, reading: Reading, text: str, *, cut: bool, asked: Asked) -> bool:
    lines = lines_of(loop, text)
    before = reading.before + reading.text[: len(reading.text) - len(loop.text)]
    if is_drawn(loop, before, lines, cut=cut) or closes(loop, text) or asked.holds(loop.text):
        return True
    return not cut and (is_tabular(loop, text, lines) or asked.counts(loop) or asked.is_number(loop))
