"""What one grade may take: steps of work, which are counted, and processor time of patterns.

Counting comes first, since it gives the same answer on every machine. Time is measured only where the work cannot be
counted: inside a search for a pattern that a person or a model wrote.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import regex

MOST_STEPS = 500_000
"""Steps of work in one grade. A step takes some three microseconds; a usual answer takes a few hundred steps."""
QUICK_PATTERNS_S = 0.2
"""Processor time that all patterns of a grade may take together, in seconds, before a worker takes the grade over."""
_CHARACTERS_A_STEP = 1_000
_SLACK_S = 0.001
"""What `regex` is given at least: it reads a limit of 0 as none."""


class OverBudgetError(Exception):
    """A grade takes more than it may."""


class OutOfStepsError(OverBudgetError):
    """A grade took more steps than it may."""


class OutOfTimeError(OverBudgetError):
    """The patterns of a grade took longer than they may here; a worker can try with more time."""


class Budget:
    """What is left of the steps and the time of one grade."""

    def __init__(self, steps: int = MOST_STEPS, patterns_s: float | None = QUICK_PATTERNS_S) -> None:
        """Set the limits.

        Args:
            steps: of work.
            patterns_s: processor time of all patterns together, in seconds; None where the process itself is ended.
        """
        self.most = steps
        self._steps = steps
        self._patterns_s = patterns_s

    def spend(self, steps: int) -> None:
        """Take steps off.

        Raises:
            OutOfStepsError: fewer are left.
        """
        self._steps -= steps
        if self._steps < 0:
            raise OutOfStepsError(f"it takes more than {self.most:,} steps of work")

    def search(self, pattern: regex.Pattern[str], text: str, *, full: bool = False) -> bool:
        """Return whether a pattern is found in a text, or with `full` matches the whole of it.

        Raises:
            OutOfStepsError: too much text was searched in this grade.
            OutOfTimeError: no time is left for patterns.
        """
        self.spend(1 + len(text) // _CHARACTERS_A_STEP)
        find = pattern.fullmatch if full else pattern.search
        if self._patterns_s is None:
            return find(text) is not None
        started = time.process_time()
        try:
            found = find(text, timeout=max(self._patterns_s, _SLACK_S))
        except TimeoutError as error:
            raise OutOfTimeError from error
        self._patterns_s -= time.process_time() - started
        if self._patterns_s <= 0:
            raise OutOfTimeError
        return found is not None


_CURRENT: ContextVar[Budget | None] = ContextVar("budget", default=None)


def current_budget() -> Budget:
    """Return the budget of the grade that is being made; outside of one, a fresh budget."""
    return _CURRENT.get() or Budget()


@contextmanager
def limited_to(budget: Budget) -> Iterator[None]:
    """Make a budget the current one."""
    before = _CURRENT.set(budget)
    try:
        yield
    finally:
        _CURRENT.reset(before)
