"""Questions near a limit of numbers, times or dates, by the name of their form."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .talk import Slots, must_hold, must_hold_one, must_lack

Asked = tuple[str, str, list[dict[str, Any]]]
"""A question, its answer as an example gives it, and its graders."""


def _number_asked(question: str, answer: float) -> Asked:
    return question, str(answer), [{"kind": "number", "value": answer, "which": "first"}]


def _after(slots: Slots) -> Asked:
    number = slots.draw.pick([99, 199, 999, 1099, 1999, 9999, 10999, 32767, 65535, 99999, 999999, 2147483647])
    return _number_asked(f"Which number comes after {number}?", number + 1)


def _before(slots: Slots) -> Asked:
    number = slots.draw.pick([100, 200, 1000, 1100, 2000, 10000, 11000, 32768, 65536, 100000, 1000000, 4294967296])
    return _number_asked(f"Which number comes before {number}?", number - 1)


def _carry(slots: Slots) -> Asked:
    whole, more = 10 ** slots.draw.whole(2, 6) - slots.draw.whole(1, 4), slots.draw.whole(5, 9)
    return _number_asked(f"What is {whole} plus {more}?", whole + more)


def _larger(slots: Slots) -> Asked:
    """Two decimals of which the one with fewer digits is larger."""
    whole, tenths = slots.draw.whole(1, 19), slots.draw.whole(2, 9)
    larger, smaller = f"{whole}.{tenths}", f"{whole}.{slots.draw.whole(1, tenths - 1)}{slots.draw.whole(1, 9)}"
    first, second = slots.draw.shuffled([larger, smaller])
    return _number_asked(f"Which is larger, {first} or {second}?", float(larger))


def _smaller(slots: Slots) -> Asked:
    first, second = slots.draw.sample(range(1, 30), 2)
    return _number_asked(f"Which is smaller, -{first} or -{second}?", -max(first, second))


def _below_zero(slots: Slots) -> Asked:
    first = slots.draw.whole(0, 9)
    second = first + slots.draw.whole(1, 9)
    return _number_asked(f"What is {first} minus {second}?", first - second)


def _zeros(slots: Slots) -> Asked:
    many = slots.draw.whole(2, 11)
    return _number_asked(f"How many zeros are in {slots.draw.whole(1, 9)}{'0' * many}?", many)


def _digits(slots: Slots) -> Asked:
    many = slots.draw.whole(3, 14)
    return _number_asked(f"How many digits has {''.join(slots.draw.pick('123456789') for _ in range(many))}?", many)


def _rounding(slots: Slots) -> Asked:
    whole, tenths = slots.draw.pick([9, 19, 99, 199, 999, 0, 10, 100]), slots.draw.pick([1, 2, 8, 9])
    return _number_asked(f"Round {whole}.{tenths} to a whole number.", whole + (tenths > 5))


def _leap(slots: Slots) -> Asked:
    year = slots.draw.pick([1600, 1700, 1800, 1900, 1996, 2000, 2019, 2023, 2024, 2028, 2100, 2200, 2400, 2025])
    words = ("yes", "no") if year % 4 == 0 and (year % 100 or year % 400 == 0) else ("no", "yes")
    return f"Is {year} a leap year?", words[0], [must_hold(words[0]), must_lack(words[1])]


def _minute(slots: Slots) -> Asked:
    hour = slots.draw.whole(0, 23)
    time = f"{(hour + 1) % 24:02d}:00"
    return f"What time is one minute after {hour:02d}:59?", time, [must_hold_one([time, time.removeprefix("0")])]


def _day_after(slots: Slots) -> Asked:
    """The day after a month's last, in February of a leap year or not."""
    year, month = slots.draw.whole(2023, 2034), slots.draw.whole(1, 12)
    last = (29 if year % 4 == 0 else 28) if month == 2 else 30 if month in {4, 6, 9, 11} else 31
    day = last - slots.draw.whole(0, 1)
    months = slots.own["months"]
    answer = f"{day + 1} {months[month - 1]}" if day < last else f"1 {months[month % 12]}"
    return f"Which day comes after {day} {months[month - 1]} {year}?", answer, [must_hold(answer)]


LIMITS: dict[str, Callable[[Slots], Asked]] = {
    "after": _after,
    "before": _before,
    "carry": _carry,
    "larger": _larger,
    "smaller": _smaller,
    "below_zero": _below_zero,
    "zeros": _zeros,
    "digits": _digits,
    "rounding": _rounding,
    "leap": _leap,
    "minute": _minute,
    "day_after": _day_after,
}
