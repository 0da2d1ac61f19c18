"""Put numbers together that are one: powers, fractions, mixed numbers, numbers with a word of size or of sign."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction

import regex

from qeval.grading._number_markup import FRACTION_SLASH
from qeval.grading._number_words import negative_before, percent_after, size_after

LARGEST_POWER = 999_999_999
"""Largest power of ten that a number may have; a larger one is read as this one."""
LONGEST_POWER = 10
"""Characters of an exponent that are read, its sign included."""
_LONGEST_RESULT = 4_000
"""Digits of the longest power that is worked out; Python prints no integer of more than 4,300."""
_THOUSAND = 3
_TIMES = regex.compile("[ \u2009]*[×x·*][ \u2009]*")
_BLANK = regex.compile("[ \u00a0\u202f\u2009]?")
_BLANKS = regex.compile("[ \u00a0\u202f\u2009]+")
_SLASH = regex.compile("[ ]?/[ ]?")


@dataclass(frozen=True)
class Part:
    """A number with its place in the text."""

    value: Decimal | Fraction
    """Without its sign."""
    negative: bool
    start: int | None
    """Where it begins; None where it is read out of the middle of a run of digits, and so has no neighbour."""
    end: int | None
    bare: bool
    """Digits alone, without sign, mark or exponent."""
    power: int | None = None
    """Its exponent where it is written as a power of ten."""
    size: int = 0
    """The power of ten of its word of size."""
    fraction: bool = False
    percent: bool = False

    @property
    def signed(self) -> Decimal | Fraction:
        """The value with its sign."""
        if isinstance(self.value, Fraction):
            return -self.value if self.negative else self.value
        return self.value.copy_negate() if self.negative else self.value


def combined(text: str, parts: list[Part], language: str | None) -> list[Part]:
    """Return the numbers of a text, those put together that are one."""
    parts = _joined(text, parts, _as_power)
    parts = _joined(text, parts, _as_times_power)
    parts = _joined(text, list(_fractions(text, parts)), _as_mixed)
    parts = [_with_words(text, part, language) for part in parts]
    return _joined(text, parts, _as_sum)


def _joined(text: str, parts: list[Part], join: Callable[[str, Part, Part], Part | None]) -> list[Part]:
    """Join neighbours from left to right as long as they can be."""
    done: list[Part] = []
    for part in parts:
        if done and (end := done[-1].end) is not None and part.start is not None:
            together = join(text[end : part.start], done[-1], part)
            if together is not None:
                done[-1] = together
                continue
        done.append(part)
    return done


def _as_power(between: str, left: Part, right: Part) -> Part | None:
    """10^3."""
    if between != "^" or not isinstance(right.value, Decimal) or right.value != right.value.to_integral_value():
        return None
    exponent = max(-LARGEST_POWER, min(LARGEST_POWER, int(right.signed))) if right.value < 10**12 else LARGEST_POWER
    if left.value == 10 and left.bare:
        return replace(left, value=Decimal((0, (1,), exponent)), end=right.end, bare=False, power=exponent)
    return replace(left, value=_to_the(left.value, exponent), end=right.end, bare=False)


def _to_the(base: Decimal | Fraction, exponent: int) -> Decimal | Fraction:
    if not base:
        return Decimal(0 if exponent else 1)
    if _written_out(base) * abs(exponent) > _LONGEST_RESULT:
        return Decimal((0, (1,), LARGEST_POWER if exponent > 0 else -LARGEST_POWER))
    return Fraction(base) ** exponent


def _written_out(value: Decimal | Fraction) -> int:
    """Return about how many digits a number has when it is written out."""
    if isinstance(value, Fraction):
        return (value.numerator.bit_length() + value.denominator.bit_length()) // 3
    return len(value.as_tuple().digits) + abs(int(value.as_tuple().exponent))


def _as_times_power(between: str, left: Part, right: Part) -> Part | None:
    """3 × 10^4."""
    if right.power is None or _TIMES.fullmatch(between) is None or not isinstance(left.value, Decimal):
        return None
    return replace(left, value=scaled(left.value, right.power), end=right.end, bare=False)


def _fractions(text: str, parts: list[Part]) -> Iterator[Part]:
    """Yield the parts, two around a slash as one fraction; not three around two slashes, which are a date."""
    position = 0
    while position < len(parts):
        gaps = [_gap(text, parts, index) for index in range(position - 1, position + 2)]
        right = parts[position + 1] if position + 1 < len(parts) else None
        whole = None if right is None else _as_fraction(gaps[1], parts[position], right)
        if whole is None or any(_SLASH.fullmatch(gap) for gap in (gaps[0], gaps[2])):
            yield parts[position]
            position += 1
        else:
            yield whole
            position += 2


def _gap(text: str, parts: list[Part], index: int) -> str:
    """Return the text between a part and the next; a text that joins nothing where there is none."""
    if not 0 <= index < len(parts) - 1:
        return "|"
    end, start = parts[index].end, parts[index + 1].start
    return "|" if end is None or start is None else text[end:start]


def _as_fraction(between: str, left: Part, right: Part) -> Part | None:
    """3⁄4; and 3/4 of at most three digits each, since longer ones are mostly dates, seasons and numbers of files."""
    if between != FRACTION_SLASH:
        plain = right.bare and left.value < 1000 and right.value < 1000 and left.value == left.value // 1
        if _SLASH.fullmatch(between) is None or not plain:
            return None
    if not right.value or right.negative or right.power is not None or max(_size(left.value), _size(right.value)) > 400:
        return None
    return replace(left, value=Fraction(left.value) / Fraction(right.value), end=right.end, bare=False, fraction=True)


def _as_mixed(between: str, left: Part, right: Part) -> Part | None:
    """2 1⁄2."""
    proper = right.fraction and not right.negative and right.value < 1
    whole = not left.fraction and left.value == left.value // 1 if _size(left.value) < 400 else False
    if not proper or not whole or _BLANK.fullmatch(between) is None:
        return None
    return replace(left, value=Fraction(left.value) + Fraction(right.value), end=right.end, bare=False)


def _with_words(text: str, part: Part, language: str | None) -> Part:
    """3.5 million, minus 7, 5 percent."""
    if part.end is not None and (size := size_after(text, part.end, language)) is not None:
        part = replace(part, value=scaled(part.value, size.power), end=size.end, bare=False, size=size.power)
    if part.start is not None and not part.negative and negative_before(text, part.start, language):
        part = replace(part, negative=True)
    percent = part.end is not None and percent_after(text, part.end, language)
    return replace(part, percent=percent)


def _as_sum(between: str, left: Part, right: Part) -> Part | None:
    """2 million 300 thousand; 12 thousand 500."""
    smaller = 0 < right.size < left.size or (left.size == _THOUSAND and right.bare and 100 <= right.value < 1000)
    if not smaller or _BLANKS.fullmatch(between) is None or right.negative or right.value >= Decimal(10) ** left.size:
        return None
    value = Fraction(left.value) + Fraction(right.value)
    return replace(left, value=value, end=right.end, size=right.size, percent=right.percent)


def scaled(value: Decimal | Fraction, power: int) -> Decimal | Fraction:
    """Return a number times a power of ten, exact."""
    if isinstance(value, Fraction):
        return value * Fraction(10) ** power
    sign, digits, exponent = value.as_tuple()
    return Decimal((sign, digits, max(-LARGEST_POWER, min(LARGEST_POWER, int(exponent) + power))))


def _size(value: Decimal | Fraction) -> int:
    """Return about how many digits a number has before or after its point."""
    return 0 if isinstance(value, Fraction) else abs(value.adjusted())
