"""Whether everything of a conversation is in its rendered prompt, however the template writes it.

Templates trim blanks, escape text as JSON, Python or HTML, and write calls as JSON, Python or XML. So a text counts as
found where it is in the prompt as it is, or where both are equal without escapes, blanks and quotes. Thoughts of
earlier turns are not looked for: most templates drop them, as their models were trained.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from qeval.chat import Message
from qeval.marks import split_said
from qeval.rendering.turns import Conversation, called_by

_ESCAPE = re.compile(r"\\(?:u(?P<u>[0-9a-fA-F]{4})|U(?P<U>[0-9a-fA-F]{8})|x(?P<x>[0-9a-fA-F]{2})|(?P<one>[nrtbfvae]))")
_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")
_DROPPED = re.compile(r"[\s\"'`\\\x00-\x1f\x7f\u200b\ufeff]+|/no_think|/think")
"""What templates change or drop: blanks, quotes, escapes, and the words by which some switch thinking."""
_ROUNDS = 4
"""How often a text may have been escaped over again."""


class Prompt:
    """A rendered prompt in which texts are looked for."""

    def __init__(self, text: str) -> None:
        """Keep the text; what it is without escapes is made when first needed."""
        self.text = text

    @cached_property
    def _bare(self) -> str:
        return bare(self.text)

    def holds(self, text: str) -> bool:
        """Whether the prompt holds a text, in whatever way of writing."""
        return text.strip() in self.text or bare(text) in self._bare

    def holds_value(self, value: object) -> bool:
        """Whether the prompt holds a JSON scalar, as JSON or as Python writes it. Nothing is looked for with null."""
        if isinstance(value, str):
            return self.holds(value)
        return value is None or json.dumps(value) in self.text or repr(value) in self.text


def bare(text: str) -> str:
    r"""Return a text without escapes, blanks and quotes.

    >>> bare('"Z\\u00fcrich\\n"') == bare("Zürich")
    True
    """
    for _ in range(_ROUNDS):
        plain = _ESCAPE.sub(_unescaped, html.unescape(text).replace("\\\\", "\\"))
        if plain == text:
            break
        text = plain
    text = _PAIR.sub(lambda pair: pair[0].encode("utf-16", "surrogatepass").decode("utf-16"), text)
    return _DROPPED.sub("", text)


_LETTERS = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f", "v": "\v", "a": "\a", "e": "\x1b"}


def _unescaped(found: re.Match[str]) -> str:
    if found["one"]:
        return _LETTERS[found["one"]]
    number = int(found["u"] or found["U"] or found["x"], 16)
    return chr(number) if number <= 0x10FFFF else found[0]


def missing(conversation: Conversation, text: str) -> tuple[str, ...]:
    """Name what of a conversation is not in its rendered prompt, in the conversation's order."""
    prompt = Prompt(text)
    lost = [f"the name of tool '{tool.name}'" for tool in conversation.tools if not prompt.holds(tool.name)]
    of = called_by(conversation.messages)
    for place, message in enumerate(conversation.messages):
        # A template keeps the thoughts of earlier turns or drops them.
        if not (prompt.holds(message.content) or prompt.holds(said_in(message))):
            lost.append(_label(conversation.messages, place, of.get(place)))
        for call in message.tool_calls:
            where = f"of the call of '{call.name}' in message {place + 1}"
            if not prompt.holds(call.name):
                lost.append(f"the name {where}")
            lost += [f"{what} {where}" for what in _lost_arguments(call.arguments, prompt)]
    return tuple(dict.fromkeys(lost))


def said_in(message: Message) -> str:
    """Return what of a message must be in a prompt: all its text, but for an earlier turn's thoughts."""
    return split_said(message.content).answer if message.role == "assistant" else message.content


def _label(messages: Sequence[Message], place: int, call: tuple[int, int] | None) -> str:
    if messages[place].role != "tool":
        return f"the text of message {place + 1} ({messages[place].role})"
    name = messages[place].name or (messages[call[0]].tool_calls[call[1]].name if call else None)
    return f"the result{f' of {name!r}' if name else ''} in message {place + 1}"


def _lost_arguments(value: Any, prompt: Prompt, path: str = "") -> Iterator[str]:  # noqa: ANN401 - a JSON value
    if isinstance(value, Mapping):
        for key, inner in value.items():
            place = f"{path}.{key}" if path else key
            # Some templates leave out an argument that is null.
            if inner is not None and not prompt.holds(key):
                yield f"the argument '{place}'"
            yield from _lost_arguments(inner, prompt, place)
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _lost_arguments(inner, prompt, f"{path}[{index}]")
    elif not prompt.holds_value(value):
        yield f"the value of '{path}'"
