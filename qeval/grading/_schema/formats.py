"""Which text is of which `format`: one table for all drafts, so that no draft lets a known format pass unread."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from qeval.grading._budget import Budget
from qeval.grading._patterns import PatternError, written_out
from qeval.grading._schema.ecma import compile_ecma
from qeval.grading._schema.library import load_jsonschema
from qeval.grading._schema.own_formats import CHECKERS

LONGEST_FORMATTED = 2_000
"""Longest text whose format is checked; nothing with a format is longer, and some checkers are slow."""
_CHARACTERS_A_STEP = 20
_STEPS_A_PATTERN_CHARACTER = 100


def known_formats() -> frozenset[str]:
    """Return the names of the formats that are checked, under every draft."""
    return frozenset({*_library(), *CHECKERS, "regex"})


def fits_format(name: str, text: str, budget: Budget) -> bool:
    """Return whether a text is of a format; one that is not known fits every text.

    Raises:
        OutOfStepsError: too much was checked in this grade.
    """
    budget.spend(1 + min(len(text), LONGEST_FORMATTED) // _CHARACTERS_A_STEP)
    if name == "regex":
        return len(text) <= LONGEST_FORMATTED and _is_pattern(text, budget)
    if name in CHECKERS:
        return len(text) <= LONGEST_FORMATTED and CHECKERS[name](text)
    check = _library().get(name)
    return check is None or (len(text) <= LONGEST_FORMATTED and check(text))


@lru_cache(maxsize=1)
def _library() -> dict[str, Callable[[str], bool]]:
    checkers = load_jsonschema().Draft202012Validator.FORMAT_CHECKER.checkers
    return {name: _guarded(check, raises) for name, (check, raises) in checkers.items()}


def _guarded(
    check: Callable[[object], object], raises: type[Exception] | tuple[type[Exception], ...]
) -> Callable[[str], bool]:
    kinds: tuple[type[Exception], ...] = raises if isinstance(raises, tuple) else (raises,)
    # A checker may raise what it does not say: `²` is a digit to one, and no number to int().
    expected: tuple[type[Exception], ...] = (ValueError, *kinds)

    def guarded(text: str) -> bool:
        try:
            return bool(check(text))
        except expected:
            return False

    return guarded


def _is_pattern(text: str, budget: Budget) -> bool:
    budget.spend(_STEPS_A_PATTERN_CHARACTER * len(text) + written_out(text))
    try:
        compile_ecma(text)
    except PatternError:
        return False
    return True
