"""The table of the syntaxes in which models write calls (call_syntaxes.yaml), as patterns."""

from __future__ import annotations

from functools import cache, lru_cache
from pathlib import Path
from typing import Literal, NamedTuple

import regex
from pydantic import TypeAdapter

from qeval.bounded_yaml import read_yaml
from qeval.marks import QUOTED
from qeval.strict import Strict

TABLE = Path(__file__).with_name("call_syntaxes.yaml")
FENCE = "```"
_FLAGS = regex.VERBOSE | regex.DOTALL | regex.IGNORECASE
_CAN_BEGIN = r"(?:(?=[<\[\]{>✿`\"'\n])|(?<=\})|\A|\b(?=to=|call:|func))"
"""Where a head or a mark can begin: looked at first, since few places can."""
_SMELLS_OF_CALLS = regex.compile(r"tool|func|call|action|plugin|invoke|args?\b|recipient|python", regex.IGNORECASE)


class ParameterForm(Strict):
    """How one parameter begins and ends."""

    open: str
    close: str


class Syntax(Strict):
    """One syntax; see the head of call_syntaxes.yaml."""

    name: str
    models: str
    opens: tuple[str, ...] = ()
    like: str | None = None
    closes: tuple[str, ...] = ()
    head: str | None = None
    parameter: ParameterForm | None = None
    until: str = r"\Z"
    values: Literal["json", "bare"] = "json"


class Patterns(NamedTuple):
    """The table as patterns."""

    scan: regex.Pattern[str]
    """A head (its syntax is the group `s0`, `s1`, ...; the name is `name`), a mark (`open`, `close`), or own text."""
    parameters: tuple[regex.Pattern[str] | None, ...]
    """For each syntax the pattern of one parameter."""


@cache
def syntaxes() -> tuple[Syntax, ...]:
    """Return the table."""
    return TypeAdapter(tuple[Syntax, ...]).validate_python(read_yaml(TABLE))


@cache
def patterns() -> Patterns:
    """Return the table as patterns, compiled once a process."""
    table = syntaxes()
    heads = "|".join(f"(?P<s{at}>{entry.head})" for at, entry in enumerate(table) if entry.head is not None)
    opens = _any([mark for entry in table for mark in entry.opens])
    closes = _any([mark for entry in table for mark in entry.closes if mark != FENCE])
    like = "|".join(entry.like for entry in table if entry.like is not None)
    # Before a bracket `[ARGS]` is a link in Markdown.
    marks = rf"{heads}|(?P<open>(?:{opens})(?<!\](?=\())) | (?P<close>{closes}) | (?P<open>{like})"
    return Patterns(
        scan=regex.compile(rf"{_CAN_BEGIN}(?:{marks}|(?P<code>`[^`\n]+`(?!`))|{QUOTED})", _FLAGS),
        parameters=tuple(_parameter(entry) for entry in table),
    )


@lru_cache(maxsize=4_096)
def is_call_mark(token: str) -> bool:
    """Return whether a special token may have to do with calls: one of the table, or one named like that.

    >>> is_call_mark("[TOOL_CALLS]"), is_call_mark("<|x_tool_begin|>"), is_call_mark("<file_sep>")
    (True, True, False)
    """
    return _SMELLS_OF_CALLS.search(token) is not None or any(
        token.lower() in mark.lower() for entry in syntaxes() for mark in (*entry.opens, *entry.closes)
    )


def _any(texts: list[str]) -> str:
    return "|".join(regex.escape(text, literal_spaces=False) for text in sorted(set(texts), key=len, reverse=True))


def _parameter(entry: Syntax) -> regex.Pattern[str] | None:
    if entry.parameter is None:
        return None
    begin, close = entry.parameter.open, entry.parameter.close
    # The mark that ends a value may stand in it: the last counts after which the parameters go on or end.
    ahead = regex.sub(r"\(\?P<\w+>", "(?:", begin)
    value = rf"(?P<value>(?:(?!{ahead}).)*)(?:{close})(?=\s*(?:{ahead}|{entry.until}|\Z))"
    return regex.compile(rf"\s*(?:{begin}){value}", _FLAGS)
