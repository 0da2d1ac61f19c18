"""What the suite's cases ask: a text, a JSON Schema, and the right answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from qeval.suites.draw import Draw


class Task(NamedTuple):
    """What is asked of a note."""

    text: str
    schema: dict[str, Any]
    answer: dict[str, Any]


class Setting(NamedTuple):
    """What cases of one product share: how they are told the schema, and an example."""

    kind: str
    scenario: str
    system: str | None
    """Tells the schema, where the request itself does not."""
    example: Task
    ask: Callable[[Draw], Task]
    """Draws another task of the same sort."""
