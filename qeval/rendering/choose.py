"""Choose the way in which a conversation is handed to a chat template: the first under which all of it is shown.

The choice is made for the shape of a conversation, with words in the place of texts (`qeval.rendering.marked`), and
then tried on the conversation itself. It depends on the template and the conversation alone, so it is the same for
every variant.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Literal, NamedTuple

from qeval.chat import Message, Tool, ToolCall
from qeval.rendering.marked import Marked, features, mark, mark_shape
from qeval.rendering.present import missing
from qeval.rendering.template import RefusedError, Template, TooSlowError
from qeval.rendering.turns import Conversation, given
from qeval.rendering.ways import Features, Way, groups

_ASKED = (Message(role="user", content="asks"),)
_RULED = (Message(role="system", content="rules"), *_ASKED)
_CALLED = (
    Message(role="assistant", tool_calls=(ToolCall(name="tool", arguments={"key": "value"}),)),
    Message(role="tool", content="result"),
)
_TOOLS = (Tool(name="tool"),)


class Shown(NamedTuple):
    """A conversation as the model reads it."""

    text: str
    way: Way


class Chooser:
    """Finds ways for the conversations of one template, each shape once."""

    def __init__(self, template: Template) -> None:
        """Begin with nothing known."""
        self._template = template
        self._ways: dict[str, tuple[Way, ...]] = {}

    def show(self, conversation: Conversation) -> Shown:
        """Render a conversation in the first way under which everything of it is in the prompt.

        Raises:
            RefusedError: there is none; the message names what is missing, or what the template said.
        """
        refused: RefusedError | None = None
        marked = mark(conversation)
        for way in self.ways(conversation):
            try:
                return self._shown(conversation, marked, way)
            except TooSlowError:
                raise
            except RefusedError as error:
                refused = refused or error
        # What the template says to the plainest way of all is what a person can act on.
        raise refused or self._why_not(conversation)

    def ways(self, conversation: Conversation) -> tuple[Way, ...]:
        """Return the ways that show all of a conversation's shape: of each group (`groups`) the first, if any."""
        shape = mark_shape(conversation)
        key = repr(shape.conversation)
        if key not in self._ways:
            found = (self._first(group, shape) for group in self._groups(features(shape.conversation)))
            self._ways[key] = tuple(way for way in found if way is not None)
        return self._ways[key]

    def _groups(self, has: Features) -> Iterator[tuple[Way, ...]]:
        """Return the groups of ways, without those that ask what the template never shows: each has hundreds."""
        for group in groups(has):
            no_tools = has.tools and group[0].tools == "template" and not self._takes_tools
            no_calls = has.calls and group[0].calls == "template" and not self._takes_calls
            if not (no_tools or no_calls):
                yield group

    @cached_property
    def _takes_tools(self) -> bool:
        """Whether the template shows a tool at all."""
        return any(self._shows(mark_shape(Conversation(messages, _TOOLS)), "tools") for messages in (_ASKED, _RULED))

    @cached_property
    def _takes_calls(self) -> bool:
        """Whether the template shows a call at all."""
        called = [Conversation((*_ASKED, *_CALLED), tools) for tools in ((), _TOOLS)]
        called += [Conversation((*conversation.messages, *_ASKED), conversation.tools) for conversation in called]
        return any(self._shows(mark_shape(conversation), "calls") for conversation in called)

    def _shows(self, shape: Marked, part: Literal["tools", "calls"]) -> bool:
        words = shape.calls if part == "calls" else [tool.name for tool in shape.conversation.tools]
        return any(
            all(word in text for word in words)
            for way in groups(features(shape.conversation))[0]
            if (text := self._text(shape, way)) is not None
        )

    def _text(self, shape: Marked, way: Way) -> str | None:
        try:
            return self._template(given(shape.conversation, way))
        except TooSlowError:
            raise
        except RefusedError:
            return None

    def _first(self, ways: tuple[Way, ...], shape: Marked) -> Way | None:
        as_python = None
        for way in ways:
            text = self._text(shape, way)
            if text is not None and shape.is_shown(text):
                if not shape.is_as_python(text):
                    return way
                as_python = as_python or way
        return as_python

    def _shown(self, conversation: Conversation, marked: Marked, way: Way) -> Shown:
        if not marked.is_shown(self._template(given(marked.conversation, way))):
            raise self._lost(marked.conversation, conversation, way)
        text = self._template(given(conversation, way))
        if lost := missing(conversation, text):
            raise RefusedError(f"not in the prompt: {', '.join(lost)}")
        return Shown(text, way)

    def _lost(self, marked: Conversation, conversation: Conversation, way: Way) -> RefusedError:
        """Name what is lost of a conversation by what is lost of the marked one, in the conversation's own names."""
        text = self._template(given(marked, way))
        lost = missing(marked, text)
        for word, own in _names(marked, conversation):
            lost = tuple(what.replace(word, own) for what in lost)
        said = ", ".join(lost) or "the order of calls and results"
        return RefusedError(f"not in the prompt: {said}")

    def _why_not(self, conversation: Conversation) -> RefusedError:
        """Say why no way shows all of a conversation: what the last of them, with the most as text, lacks."""
        way = groups(features(conversation))[-1][0]
        marked = mark(conversation)
        try:
            return self._lost(marked.conversation, conversation, way)
        except RefusedError as error:
            return error


def _names(marked: Conversation, conversation: Conversation) -> Iterator[tuple[str, str]]:
    """Yield each word that stands for a name of a tool, with the name."""
    for tool, own_tool in zip(marked.tools, conversation.tools, strict=True):
        yield tool.name, own_tool.name
    for message, own in zip(marked.messages, conversation.messages, strict=True):
        yield from ((call.name, other.name) for call, other in zip(message.tool_calls, own.tool_calls, strict=True))
