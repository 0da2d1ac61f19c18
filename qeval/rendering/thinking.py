"""Whether a model thinks before it answers: by a switch of its chat template, or since the template opens a thought.

A switch is a variable of the template. It is found by name and proven by rendering with both its values: where the text
is the same, the template does not use it.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import Field

from qeval.chat import Message
from qeval.errors import UsageError
from qeval.marks import opened_by, split_said
from qeval.rendering.choose import Chooser
from qeval.rendering.source import read_source
from qeval.rendering.template import RefusedError, Template
from qeval.rendering.turns import Conversation
from qeval.strict import Strict, load_yaml

TABLE = Path(__file__).with_name("switches.yaml")
DEFAULT_TOKENS = 1024
"""What a thought may take where the plan gives no number."""

ThinkingRule = Literal["off", "on"] | Annotated[int, Field(ge=1, le=1_000_000)]
"""What a plan says of thinking: off, on, or on with so many tokens for the thought."""


class Thinking(NamedTuple):
    """What is done about thinking."""

    options: Mapping[str, Any]
    """Variables for the template."""
    tokens: int | None
    """What a thought may take; None: there is no thought to expect, and one would count as the answer."""
    said: str | None
    """In words; None where the template knows nothing of thinking."""


class _Switch(Strict):
    name: str
    off: tuple[bool | int | str, ...] = Field(alias="off")
    on: tuple[bool | int | str, ...] = Field(alias="on")


class _Table(Strict):
    switches: tuple[_Switch, ...]


class _Found(NamedTuple):
    """A switch that a template has; None: it has no such value, or {}: it does so where nothing is given."""

    name: str
    off: Mapping[str, Any] | None
    on: Mapping[str, Any] | None


def find_thinking(template: Template, rule: ThinkingRule | None) -> Thinking:
    """Find out how a template has a model think, and what follows from the plan's rule.

    Raises:
        UsageError: the rule is on or off, and the template has no switch that does so.
    """
    found = _find_switch(template)
    plain = _text(template)
    opens = plain is not None and bool(opened_by(plain))
    if rule == "off" or (rule == "on" and not (opens and (found is None or found.on is None))):
        return _as_asked(found, str(rule))
    tokens = rule if isinstance(rule, int) else DEFAULT_TOKENS
    if isinstance(rule, int) and found is not None and found.on is not None:
        return Thinking(found.on, tokens, f"on ({_written(found.name, found.on)})")
    if found is not None and plain is not None:
        if found.on is not None and plain == _text(template, found.on):
            return Thinking({}, tokens, f"on, as the template does where {found.name} is not set")
        if found.off is not None and plain == _text(template, found.off):
            return Thinking({}, None, f"off, as the template does where {found.name} is not set")
    if opens:
        return Thinking({}, tokens, "on: the template opens a thought")
    if isinstance(rule, int) or _knows_thoughts(template):
        return Thinking({}, tokens, "as the model likes: the template has no switch for it")
    return Thinking({}, None, None)


def _as_asked(found: _Found | None, rule: str) -> Thinking:
    options = found and (found.on if rule == "on" else found.off)
    if found is None or options is None:
        names = ", ".join(switch.name for switch in _table().switches)
        has = f"its switch '{found.name}' does not do that" if found else f"it has none of {names}"
        raise UsageError(
            f"thinking {rule}: the model's chat template has no switch for it ({has}). Leave `thinking` out, or give a "
            "number of tokens, which is what a thought may take."
        )
    return Thinking(options, DEFAULT_TOKENS if rule == "on" else None, f"{rule} ({_written(found.name, options)})")


def _written(name: str, options: Mapping[str, Any]) -> str:
    return "; ".join(f"{key}={value!r}" for key, value in options.items()) or f"{name} not set"


def _find_switch(template: Template) -> _Found | None:
    source = read_source(template)
    for switch in _table().switches:
        if switch.name not in source.names:
            continue
        off = _first_taken(template, switch.name, switch.off, source.words)
        on = _first_taken(template, switch.name, switch.on, source.words) if switch.on else {}
        if off is None and on is None:
            continue
        if off is None or on is None or _text(template, off) != _text(template, on):
            return _Found(switch.name, off, on)
    return None


def _first_taken(
    template: Template, name: str, values: tuple[bool | int | str, ...], words: frozenset[str]
) -> dict[str, Any] | None:
    taken = (value for value in values if not isinstance(value, str) or value in words)
    return next(({name: value} for value in taken if _text(template, {name: value}) is not None), None)


def _text(template: Template, options: Mapping[str, Any] | None = None) -> str | None:
    """Return what a template makes of a plain question; None where it refuses."""
    try:
        asked = Conversation((Message(role="user", content="Hello"),))
        return Chooser(template._replace(options=options or {})).show(asked).text
    except RefusedError:
        return None


def _knows_thoughts(template: Template) -> bool:
    """Whether a template holds marks of thoughts, such as to take them off earlier turns."""
    said = (split_said(word) for word in read_source(template).words)
    return any(one.thought is not None or one.cut_short for one in said)


@cache
def _table() -> _Table:
    return load_yaml(_Table, TABLE)
