"""The marks that models write around thoughts and turns: what of a text is the answer, what was thought.

The table is marks.yaml. A mark within a string of JSON or of a call, a code span or a fence is the answer's own text.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

import regex

from qeval.strict import Strict, load_yaml

TABLE = Path(__file__).with_name("marks.yaml")
_LONGEST_TAIL = 2_000
"""Characters of a prompt's end in which an opening mark is looked for."""
_MOST_JSON_TRIES = 200
_DECODER = json.JSONDecoder()
_IN_SENTENCE_BEFORE = regex.compile(r"[^\W\d_][ \t]*[\"'“«(`]?\Z")
_IN_SENTENCE_AFTER = regex.compile(r"[\"'”»)`]?(?:[ \t]+[^\W\d_]|[.,;:!?)])")
_MAY_HOLD_MARKS = regex.compile(r"[<\[◁]|\]~b\]|\A\s*Here")
"""Most answers hold nothing of this, and the table need not be read for them."""

QUOTED = r"""
    (?P<string>(?<=[(\[{:,=]\s{0,2})(?:"(?:[^"\\\n]|\\.)*+"|'(?:[^'\\\n]|\\.)*+'))
  | (?P<parameter><(?P<tag>parameter|arg_value|param)\b[^<>\n]*+>.*?</(?P=tag)>|<escape>.*?<escape>|<\|"\|>.*?<\|"\|>)
  | (?P<json>[{\[])
"""
"""What holds strings in which no mark is read, as a verbose pattern; a `json` is passed by `past_quoted`."""
_CODE = r"```.*?(?:```|\Z)|`[^`\n]+`"


class _Pair(Strict):
    open: str
    close: str
    models: str


class _Header(Strict):
    before: str
    after: str


class _Roles(Strict):
    assistant: tuple[str, ...]
    other: tuple[str, ...]


class _Table(Strict):
    thoughts: tuple[_Pair, ...]
    said_thoughts: tuple[_Pair, ...]
    wrappers: tuple[str, ...]
    turn_ends: tuple[str, ...]
    message_ends: tuple[str, ...]
    pads: tuple[str, ...]
    text_begins: tuple[str, ...]
    turn_headers: tuple[_Header, ...]
    roles: _Roles


class Said(NamedTuple):
    """What a model said, taken apart."""

    answer: str
    """Without thoughts and marks of turns; marks of calls stay."""
    thought: str | None
    """What it thought, without marks; None where it thought nothing."""
    cut_short: bool
    """Whether the text ends inside a thought; what stands before it is all the answer there is."""


def split_said(text: str, opened: str = "", special: Collection[str] | None = None) -> Said:
    """Take the thoughts and the marks of turns off a text.

    A closing mark alone ends a thought that the prompt opened: all before it is thought.

    Args:
        text: what the model said.
        opened: the mark that the prompt ends in (`opened_by`), where it opens a thought.
        special: the special tokens in the text, where they are known: a mark of a turn within the text that is not
            among them is the model's own text. None: not known.

    >>> split_said("41?</think>It is 42.<|im_end|>", opened="<think>")
    Said(answer='It is 42.', thought='41?', cut_short=False)
    >>> split_said("<think>the total is 41, no wait")
    Said(answer='', thought='the total is 41, no wait', cut_short=True)
    """
    text = opened + text
    if not _MAY_HOLD_MARKS.search(text):
        return Said(text, None, cut_short=False)
    leading = _patterns().leading.match(text)
    text = text[leading.end() :] if leading else text
    said = _by_channels(text)
    if said is None:
        # Channels have ends of their own: whether the last message is closed tells whether a thought is.
        text = _within_turn(text, special)
        said = _by_words(text)
    answer, thoughts, cut = _by_pairs(said.answer) if not said.cut_short else (said.answer, [], True)
    answer = _unwrapped(answer)
    thought = "\n\n".join(part for part in (said.thought or "", *thoughts) if part.strip()).strip()
    return Said(answer.strip() if answer != text else answer, thought or None, cut)


def opened_by(prompt: str) -> str:
    r"""Return the mark by which the end of a rendered prompt opens a thought; empty where it opens none.

    >>> opened_by("<|im_start|>assistant\n<think>\n"), opened_by("<|im_start|>assistant\n<think>\n\n</think>\n\n")
    ('<think>', '')
    """
    tail = prompt[-_LONGEST_TAIL:]
    marks = _patterns()
    found = [*marks.thought.finditer(tail), *_ANALYSIS.finditer(tail)]
    last = max(found, key=lambda mark: mark.end(), default=None)
    if last is None or last.groupdict().get("close"):
        return ""
    after = tail[last.end() :]
    # Text after it is the beginning of the thought where the template wrote both, and a question's own words elsewhere.
    by_template = marks.header_last.search(tail, 0, last.start()) and not marks.turn.search(after)
    return last[0] if by_template or not after.strip() else ""


def opening_of(text: str) -> str | None:
    """Return the mark with which a text opens a thought, empty where it begins otherwise, None where it is too short.

    >>> opening_of("<think>Well"), opening_of("Oslo"), opening_of("<thi")
    ('<think>', '', None)
    """
    leading = _patterns().leading.match(text)
    begun = text[leading.end() if leading else 0 :].lstrip()
    table = _table()
    marks = [pair.open for pair in (*table.thoughts, *table.said_thoughts)]
    found = max((mark for mark in marks if begun.casefold().startswith(mark.casefold())), key=len, default="")
    if analysis := _ANALYSIS.match(begun):
        return analysis[0]
    if found:
        return found
    begins = (*marks, *(header.before for header in table.turn_headers), "<|channel|>analysis<|message|>")
    return None if any(mark.casefold().startswith(begun.casefold()) for mark in begins) else ""


def thought_end(text: str, opening: str) -> int | None:
    """Return where a thought ends in a text, behind its closing mark; None where it goes on.

    In the harmony format that is where the first message begins that is no thought.

    Args:
        text: what follows the opening mark, or the end of it.
        opening: the mark that opened the thought (`opened_by`, `opening_of`).

    >>> thought_end("41?</think>42", "<think>"), thought_end("41?", "<think>")
    (11, None)
    """
    if _ANALYSIS.search(opening):
        # A message without its header is one of which the text holds only the end.
        messages = (found for found in regex.finditer(_MESSAGE, text) if not found[0].startswith("<|message|>"))
        return next((found.end() for found in messages if not _ANALYSIS.search(found[0])), None)
    said = [pair.close for pair in _table().said_thoughts if pair.open == opening]
    closing = regex.compile(_any(said)) if said else _patterns().closings.get(opening.lower(), _patterns().thought)
    return next((found.end() for found in closing.finditer(text) if found.groupdict().get("open") is None), None)


def turn_end_tokens() -> frozenset[str]:
    """Return the names of special tokens that end a turn, whatever a model's settings say of them."""
    return frozenset(_table().turn_ends)


def without(text: str, tokens: Collection[str]) -> str:
    """Return a text without the tokens."""
    for token in sorted(tokens, key=len, reverse=True):
        text = text.replace(token, "")
    return text


def in_sentence(text: str, start: int, end: int) -> bool:
    """Return whether what stands there is a word of a sentence: words of the same line stand around it."""
    return bool(_IN_SENTENCE_BEFORE.search(text, max(0, start - 3), start)) and bool(
        _IN_SENTENCE_AFTER.match(text, end)
    )


def past_quoted(text: str, found: regex.Match[str]) -> int:
    """Return where a match of `QUOTED` ends: with the JSON value that begins there, where one does."""
    if not found["json"]:
        return found.end()
    try:
        return _DECODER.raw_decode(text, found.start())[1]
    except (ValueError, RecursionError):
        return found.end()


class _Patterns(NamedTuple):
    """The table as patterns."""

    thought: regex.Pattern[str]
    """An opening or a closing mark of a thought, as groups `open` and `close`."""
    scan: regex.Pattern[str]
    """The same, or text in which they do not count."""
    leading: regex.Pattern[str]
    ends: tuple[str, ...]
    """Of turns and messages, and padding; in small letters, the longest first."""
    turn: regex.Pattern[str]
    """What ends a turn or begins one."""
    turn_scan: regex.Pattern[str]
    header_last: regex.Pattern[str]
    wrapper_scan: regex.Pattern[str]
    message_scan: regex.Pattern[str]
    closings: Mapping[str, regex.Pattern[str]]
    """Opening mark of a thought, in small letters -> its closing mark."""


@cache
def _table() -> _Table:
    return load_yaml(_Table, TABLE)


@cache
def _patterns() -> _Patterns:
    table = _table()
    thought = _named("open", [pair.open for pair in table.thoughts])
    thought += "|" + _named("close", [pair.close for pair in table.thoughts])
    ours = _headers(table, table.roles.assistant)
    ends = _any([*table.turn_ends, *table.message_ends])
    turn = f"{_headers(table, [*table.roles.assistant, *table.roles.other])}|{ends}"
    own = f"{_CODE}|(?x:{QUOTED})"
    flags = regex.IGNORECASE | regex.DOTALL
    return _Patterns(
        thought=regex.compile(thought, flags),
        scan=regex.compile(f"{thought}|{own}", flags),
        leading=regex.compile(rf"(?:\s*+(?:{ours}|{_any(table.text_begins)}))++", flags),
        ends=tuple(sorted(map(str.lower, [*table.turn_ends, *table.message_ends, *table.pads]), key=len, reverse=True)),
        turn=regex.compile(turn, flags),
        turn_scan=regex.compile(f"(?P<turn>{turn})|{own}", flags),
        header_last=regex.compile(rf"(?:{ours})\s*\Z", flags),
        wrapper_scan=regex.compile(f"{_named('wrapper', table.wrappers)}|{own}", flags),
        message_scan=regex.compile(f"{_MESSAGE}|{own}", flags),
        closings={pair.open.lower(): regex.compile(regex.escape(pair.close), flags) for pair in table.thoughts},
    )


def _any(texts: Collection[str]) -> str:
    return "|".join(regex.escape(text) for text in sorted(texts, key=len, reverse=True))


def _named(name: str, texts: Collection[str]) -> str:
    return f"(?P<{name}>{_any(texts)})"


def _headers(table: _Table, roles: Collection[str]) -> str:
    # No beginning goes with the end of another in what models write, so that the two need not be paired.
    befores = {header.before for header in table.turn_headers}
    afters = {header.after for header in table.turn_headers}
    return rf"(?:{_any(befores)})(?:{_any(roles)})[ \t]*(?:{_any(afters)})"


def _within_turn(text: str, special: Collection[str] | None) -> str:
    """Return what stands within the first turn of a text."""
    return _without_end(text[: _turn_end(text, special)] if special else text)


def _without_end(text: str) -> str:
    """Return a text without the marks of ends and padding behind it."""
    while True:
        bare = text.rstrip()
        mark = next((mark for mark in _patterns().ends if bare.lower().endswith(mark)), None)
        # In HTML `</s>` closes what `<s>` strikes out.
        if mark is None or (mark == "</s>" and "<s>" in text):
            return text
        text = bare[: -len(mark)]


def _turn_end(text: str, special: Collection[str]) -> int:
    """Return where the first mark of a turn stands that is made of special tokens, or the end."""
    scan = _Scan(_patterns().turn_scan, text, ("turn",))
    position = 0
    while found := scan.after(position):
        if any(token in found[0] for token in special):
            return found.start()
        position = found.end()
    return len(text)


class _Scan:
    """Finds the matches of some groups that do not lie in the answer's own text."""

    def __init__(self, pattern: regex.Pattern[str], text: str, groups: tuple[str, ...]) -> None:
        """Prepare; `groups` are those of the pattern that are looked for."""
        self._pattern, self._text, self._groups = pattern, text, groups
        self._tries = 0

    def after(self, position: int) -> regex.Match[str] | None:
        """Return the first match from a position on, None where there is no more."""
        while found := self._pattern.search(self._text, position):
            if any(found[group] is not None for group in self._groups):
                return found
            position = found.end()
            if found["json"] and self._tries < _MOST_JSON_TRIES:
                self._tries += 1
                position = past_quoted(self._text, found)
        return None


def _by_pairs(text: str) -> tuple[str, list[str], bool]:
    """Return what stands outside of thoughts, the thoughts, and whether the last of them is not closed."""
    if not _patterns().thought.search(text):
        return text, [], False
    scan = _Scan(_patterns().scan, text, ("open", "close"))
    kept: list[str] = []
    thoughts: list[str] = []
    start = 0
    while found := scan.after(start):
        closing = _closing(text, found["open"], found.end()) if found["open"] else None
        if found["open"] and closing is None and in_sentence(text, found.start(), found.end()):
            kept.append(text[start : found.end()])
            start = found.end()
            continue
        kept.append(text[start : found.start()])
        start = found.end()
        if found["close"]:
            thoughts.append("".join(kept))
            kept = []
            continue
        thoughts.append(text[start : closing.start() if closing else len(text)])
        if closing is None:
            return "".join(kept), thoughts, True
        start = closing.end()
    return "".join([*kept, text[start:]]), thoughts, False


def _closing(text: str, opening: str, start: int) -> regex.Match[str] | None:
    """Return the mark that closes a thought: its own, else that of another kind of thought."""
    own = _patterns().closings[opening.lower()].search(text, start)
    return own or next((mark for mark in _patterns().thought.finditer(text, start) if mark["close"]), None)


def _unwrapped(text: str) -> str:
    """Return an answer without the marks that stand around answers."""
    scan = _Scan(_patterns().wrapper_scan, text, ("wrapper",))
    kept: list[str] = []
    start = 0
    while found := scan.after(start):
        kept.append(text[start : found.start()])
        start = found.end()
    return "".join([*kept, text[start:]])


def _by_words(text: str) -> Said:
    """Take off a thought that begins the text and is marked in words."""
    for pair in _table().said_thoughts:
        if text.lstrip().startswith(pair.open):
            thought, closed, answer = text.lstrip()[len(pair.open) :].partition(pair.close)
            return Said(answer, thought, cut_short=not closed)
    return Said(text, None, cut_short=False)


_ANALYSIS = regex.compile(r"<\|channel\|>\s*analysis\b[^<]*<\|message\|>", regex.IGNORECASE)
_MESSAGE = (
    r"(?P<message>(?:<\|start\|>[^<]*+)?+(?:<\|channel\|>(?P<channel>[^<]*+))?+"
    r"(?:<\|constrain\|>[^<]*+)?+<\|message\|>)"
)
_MESSAGE_END = regex.compile(r"<\|(?:end|return|call|start|channel)\|>|\Z")
_RECIPIENT = regex.compile(r"\bto=\S")
_BARE_HEADER = regex.compile(r"\s*(?:assistant)?\s*(?P<recipient>to=\S+)?\s*\Z|<\|start\|>[^<]*\Z")


def _by_channels(text: str) -> Said | None:
    """Read the messages of the harmony format: analysis is thought, the last final message or else comments are answer.

    Messages to a tool stay as they are, with their header. None where there is no message.
    """
    scan = _Scan(_patterns().message_scan, text, ("message",))
    if "<|message|>" not in text or scan.after(0) is None:
        return None
    thoughts: list[str] = []
    calls: list[str] = []
    comments: list[str] = []
    final: str | None = None
    position, cut = 0, False
    while header := scan.after(position):
        before = text[position : header.start()]
        bare = _BARE_HEADER.match(before)
        if not bare:
            comments.append(before)
        end = _MESSAGE_END.search(text, _past_json(text, header.end()))
        stop = end.start() if end else len(text)
        body, position = text[header.end() : stop], stop if end and end[0] in _BEGINS else end.end() if end else stop
        channel = (header["channel"] or "final").strip().partition(" ")[0]
        recipient = (bare and bare["recipient"]) or _RECIPIENT.search(header[0])
        cut = False
        if recipient:
            calls.append(f"{before if bare else ''}{header[0]}{body}")
        elif channel == "analysis":
            thoughts.append(body)
            cut = not end or not end[0]
        elif channel == "final":
            final = body
        else:
            comments.append(body)
    answer = [*calls, final] if final is not None else [*comments, *calls]
    return Said(_without_end("\n".join(answer)), "\n\n".join(thoughts) or None, cut)


_BEGINS = ("<|start|>", "<|channel|>")


def _past_json(text: str, start: int) -> int:
    """Return the end of the JSON value with which a body begins, or the body's start."""
    blank = len(text) - len(text[start:].lstrip()) if text[start : start + 1].isspace() else start
    try:
        return _DECODER.raw_decode(text, blank)[1] if text[blank : blank + 1] in {"{", "["} else start
    except (ValueError, RecursionError):
        return start
