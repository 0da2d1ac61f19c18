"""Objects in the manner of Gemma: bare keys, and strings between marks, as in `{city:<escape>Rome<escape>,n:3}`."""

from __future__ import annotations

from typing import Any

import regex

from qeval.grading._json import JsonError, read_strict
from qeval.jsonl import dumps

_STRING = r"""<escape>(?P<marked>.*?)<escape>|<\|"\|>(?P<marked>.*?)<\|"\|>|(?P<quoted>"(?:[^"\\]|\\.)*+")"""
_KEY = regex.compile(rf"(?:{_STRING}|(?P<bare>[^\s{{}}\[\],:][^{{}}\[\],:]*?))\s*+:", regex.DOTALL)
_VALUE = regex.compile(rf"{_STRING}|(?P<bare>[^\s{{}}\[\],][^{{}}\[\],]*)", regex.DOTALL)
_LITERAL = regex.compile(r"true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?")
_BLANK = regex.compile(r"\s*+")


def read_bare(text: str, start: int) -> tuple[Any, int] | None:
    """Read the object that begins at `start`; return it and where it ends, or None where it is not closed or readable.

    >>> read_bare("call:f{city:<escape>Rome<escape>,days:[1,2]}", 6)
    ({'city': 'Rome', 'days': [1, 2]}, 44)
    """
    written: list[str] = []
    within: list[str] = []
    key_next = False
    position = start
    while position < len(text):
        sign = text[position]
        if sign in "{[":
            within.append(sign)
        elif sign in "}]":
            within.pop()
        if sign in "{}[],":
            written.append(sign)
            key_next = sign in "{," and within[-1:] == ["{"]
            position += 1
        else:
            token = (_KEY if key_next else _VALUE).match(text, position)
            if token is None:
                return None
            written.append(f"{dumps(_text(token))}:" if key_next else _as_json(token))
            key_next = False
            position = token.end()
        if not within:
            return _read("".join(written), position)
        position = _past_blanks(text, position)
    return None


def _read(text: str, end: int) -> tuple[Any, int] | None:
    try:
        return read_strict(text), end
    except JsonError:
        return None


def _as_json(token: regex.Match[str]) -> str:
    bare = token["bare"]
    return bare.strip() if bare is not None and _LITERAL.fullmatch(bare.strip()) else dumps(_text(token))


def _text(token: regex.Match[str]) -> str:
    if token["quoted"] is None:
        return str(token["marked"] if token["marked"] is not None else token["bare"].strip())
    try:
        return str(read_strict(token["quoted"]))
    except JsonError:
        return str(token["quoted"][1:-1])


def _past_blanks(text: str, position: int) -> int:
    blanks = _BLANK.match(text, position)
    return blanks.end() if blanks else position
