"""What a lint says: of a case, and of a case at its place."""

from __future__ import annotations

from typing import Literal, NamedTuple

from qeval.strict import Strict

Level = Literal["error", "warning"]
"""An error: no answer can be graded as meant. A warning: it can, but perhaps not as meant."""


class Flaw(NamedTuple):
    """One thing doubtful about a case."""

    level: Level
    text: str
    """What is wrong and what to do, in a sentence or two."""


class Finding(Strict):
    """A flaw and where it stands."""

    level: Level
    suite: str | None = None
    """None: of all suites together."""
    case: str | None = None
    """None: of the whole suite."""
    where: str | None = None
    """File and line, or the generator and the number of the case."""
    text: str
