"""What can be wrong: with a schema, and with a value under it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple


class BadSchemaError(ValueError):
    """A schema cannot be used; the message names the place and the fault."""


class Violation(NamedTuple):
    """Where and how a value breaks a schema."""

    path: str
    """JSON Pointer into the value; `the top` for the whole of it."""
    keyword: str
    message: str


def pointer(steps: Iterable[str | int]) -> str:
    """Return a JSON Pointer, or `the top` for the whole.

    >>> pointer(["a/b", 0]), pointer([])
    ('/a~1b/0', 'the top')
    """
    written = (str(step).replace("~", "~0").replace("/", "~1") for step in steps)
    return "".join(f"/{step}" for step in written) or "the top"


def cut(text: str, limit: int = 160) -> str:
    """Return a text cut at a limit of characters."""
    return text if len(text) <= limit else f"{text[:limit]}..."
