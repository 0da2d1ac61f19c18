"""What a case asks to be repeated: an answer that does as it was told is not broken."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import regex

from qeval.grading._loops import Loop
from qeval.grading._text import ascii_digits, fold, trim

_EXPECTING = ("value", "values", "expect", "calls", "reference")
"""Options of graders that hold a right answer or a part of one."""
_FORBIDS = "not_contains"
_JSON = "json_schema"
_NUMBER = regex.compile(r"(?<!\d)\d{1,6}(?!\d)")


class Asked(NamedTuple):
    """What the case says that an answer may have to repeat."""

    texts: tuple[str, ...] = ()
    """Expected texts and numbers, as its graders hold them."""
    prompt: str = ""
    """The last message of the user."""
    json: bool = False
    """Whether the answer is to be JSON."""

    def holds(self, text: str) -> bool:
        """Whether a text stands, in normal form, in an expected text or in the prompt."""
        wanted = fold(text)
        return bool(wanted) and any(wanted in fold(known) for known in (*self.texts, self.prompt))

    def is_number(self, loop: Loop) -> bool:
        """Whether a loop is digits at the end of JSON, which may be a number as long as any."""
        return self.json and loop.unit.isdecimal()

    def counts(self, loop: Loop) -> bool:
        """Whether the prompt holds the unit of a loop and, in digits, the number of its turns."""
        turns = -(-len(loop.text) // loop.period)
        numbers = {int(found) for found in _NUMBER.findall(ascii_digits(self.prompt))}
        unit = trim(fold(loop.unit))
        return turns in numbers and bool(unit) and unit in fold(self.prompt)


def asked_by(graders: Sequence[Mapping[str, Any]], prompt: str) -> Asked:
    """Return what a case asks for.

    >>> asked_by([{"kind": "exact", "values": ["!!!"]}, {"kind": "not_contains", "value": "?"}], "Shout!").texts
    ('!!!',)

    Args:
        graders: as the case writes them.
        prompt: the last message of the user.
    """
    return Asked(_expected_texts(graders), prompt, any(grader.get("kind") == _JSON for grader in graders))


def _expected_texts(graders: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    parts = (grader[key] for grader in graders if grader.get("kind") != _FORBIDS for key in _EXPECTING if key in grader)
    return tuple(text for part in parts for text in _leaves(part))


def _leaves(value: Any) -> Iterator[str]:  # noqa: ANN401 - any JSON value
    if isinstance(value, Mapping):
        for item in value.values():
            yield from _leaves(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _leaves(item)
    elif isinstance(value, str | int | float) and not isinstance(value, bool):
        yield str(value)
