"""Dates and numbers, read and written as a language writes them."""

from __future__ import annotations

from qeval.suites.draw import Draw
from qeval.suites.number_styles import ENGLISH, NumberStyle, write_number

from .language import Language, Talk, room


def date_read(draw: Draw, language: Language) -> Talk:
    """A date in words is written as YYYY-MM-DD, after one example."""
    (shown, first, _), (wanted, asked, _) = _dates(draw, language, 2)
    texts = [language.own["date_said"].format(date=date) for date in (first, asked)]
    graders = [{"kind": "contains", "value": wanted}]
    return Talk("Write the date as YYYY-MM-DD.", [texts[0], shown, texts[1]], graders, "date-read")


def date_write(draw: Draw, language: Language) -> Talk:
    """A date is written in the language, after two examples."""
    (one, first, _), (two, second, _), (three, asked, parts) = _dates(draw, language, 3)
    graders = [{"kind": "contains", "values": parts}]
    limit = room(asked)
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


def number_read(draw: Draw, language: Language) -> Talk:
    """A number in the language's style is written in the English one."""
    pairs = [(own, [*english, *_unmarked(english)]) for english, own in _three_numbers(draw, language)]
    system = f"Write each {language.own['name']} number in English digits."
    return _rewrite(system, pairs, "number-read")


def _unmarked(writings: list[str]) -> list[str]:
    """Return English writings without their group marks, which programs leave out."""
    return [writing.replace(",", "") for writing in writings]


def number_write(draw: Draw, language: Language) -> Talk:
    """A number in the English style is written in the language's."""
    system = f"Write each number as it is written in {language.own['name']}."
    return _rewrite(system, _three_numbers(draw, language), "number-write")


def _rewrite(system: str, pairs: list[tuple[list[str], list[str]]], group: str) -> Talk:
    """Two numbers rewritten as examples, a third asked; its writing must fit code point by code point."""
    (one, first), (two, second), (three, asked) = pairs
    graders = [{"kind": "exact", "values": asked, "mode": "strict"}]
    return Talk(system, [one[0], first[0], two[0], second[0], three[0]], graders, group, room(asked[0]))


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
