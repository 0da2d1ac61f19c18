"""Take the thinking block off an answer, so that no grader reads a draft or a guess.

Tags inside a JSON value or a code span are the answer's own text and stay; so a JSON answer that holds
`<think>` in a string is kept whole.
"""

from __future__ import annotations

import json
from typing import NamedTuple

import regex

_NAMES = r"think|thinking|thought|thoughts|reasoning|reflection|seed:think"
_MARKS = regex.compile(
    rf"(?P<open><(?:{_NAMES})>|\[THINK\]|◁think▷|<\|begin_of_thought\|>)"
    rf"|(?P<close></(?:{_NAMES})>|\[/THINK\]|◁/think▷|<\|end_of_thought\|>)"
    r"|(?P<code>```.*?(?:```|\Z)|`[^`\n]+`)"
    r"|(?P<json>[{\[])",
    regex.IGNORECASE | regex.DOTALL,
)
_HINT = regex.compile(rf"</?(?:{_NAMES})>|\[/?THINK\]|◁/?think▷|<\|(?:begin|end)_of_thought\|>", regex.IGNORECASE)
_FINAL_CHANNEL = regex.compile(r"<\|channel\|>\s*final\b.*?<\|message\|>", regex.DOTALL)
_MOST_JSON_TRIES = 200
_DECODER = json.JSONDecoder()


class Thought(NamedTuple):
    """An answer without its thinking block."""

    answer: str
    cut_short: bool
    """Whether the text ended inside a thinking block; what stands before that is all the answer there is."""


def split_reasoning(text: str) -> Thought:
    """Return what follows the thinking block.

    A closing tag alone ends a thinking block that the prompt had opened: all before it is thinking.

    >>> split_reasoning("<think>41?</think>It is 42.")
    Thought(answer='It is 42.', cut_short=False)
    >>> split_reasoning("<think>the total is 41, no wait")
    Thought(answer='', cut_short=True)
    """
    finals = list(_FINAL_CHANNEL.finditer(text))
    if finals:
        text = text[finals[-1].end() :]
    if not _HINT.search(text):
        return Thought(text, cut_short=False)
    kept, cut = _without_blocks(text)
    answer = kept.strip()
    return Thought(answer, cut_short=cut)


def _without_blocks(text: str) -> tuple[str, bool]:
    kept: list[str] = []
    start = position = tries = 0
    while found := _MARKS.search(text, position):
        position = found.end()
        if found["json"]:
            tries += 1
            position = _json_end(text, found.start()) if tries <= _MOST_JSON_TRIES else position
        elif found["close"]:
            kept, start = [], position
        elif found["open"]:
            kept.append(text[start : found.start()])
            closing = _closing(text, position)
            if closing is None:
                return "".join(kept), True
            start = position = closing
    kept.append(text[start:])
    return "".join(kept), False


def _closing(text: str, position: int) -> int | None:
    while found := _HINT.search(text, position):
        position = found.end()
        if "/" in found[0] or "end_of" in found[0]:
            return position
    return None


def _json_end(text: str, start: int) -> int:
    """Return the end of the JSON value at `start`, or the next character where there is none."""
    try:
        return _DECODER.raw_decode(text, start)[1]
    except (ValueError, RecursionError):
        return start + 1
