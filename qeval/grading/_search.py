"""Find values in an answer: in normal form, and numbers by what they are worth."""

from __future__ import annotations

from collections.abc import Sequence

from qeval.grading._numbers import LONGEST_READ, Number, read_numbers
from qeval.grading._text import fold, holds


def missing_values(text: str, values: Sequence[str], language: str | None) -> list[str]:
    """Return the values that a text does not hold.

    A value that is one number is also found where the text writes it in the language's own style.

    >>> missing_values("All told 2,125 m in Berlin.", ["2125", "berlin", "25"], "en")
    ['25']
    """
    folded = fold(text, language)
    numbers: set[Number] | None = None
    missing = []
    for value in values:
        if holds(folded, value, language):
            continue
        number = _as_number(value, language)
        if number is not None and numbers is None:
            numbers = set(read_numbers(text[:LONGEST_READ], language))
        if number is None or numbers is None or number not in numbers:
            missing.append(value)
    return missing


def _as_number(value: str, language: str | None) -> Number | None:
    if not any(character.isdigit() for character in value) or any(character.isalpha() for character in value):
        return None
    numbers = read_numbers(value, language)
    return numbers[0] if len(numbers) == 1 else None
