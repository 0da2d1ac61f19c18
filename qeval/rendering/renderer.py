"""From a case to the token ids a model reads: one rendering for every variant, and said in the record."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

from qeval.chat import Message, Tool
from qeval.errors import UsageError
from qeval.evidence import Rendering
from qeval.rendering.choose import Chooser
from qeval.rendering.source import read_source
from qeval.rendering.template import RefusedError, Template, refusal
from qeval.rendering.thinking import Thinking, ThinkingRule, find_thinking
from qeval.rendering.turns import Conversation
from qeval.suites.case import Case

_PROBE_DAYS = (datetime.date(2001, 2, 3), datetime.date(2012, 11, 25))
"""Days of which no part is equal."""
_USER = Message(role="user", content="Hello")


class Rules(NamedTuple):
    """What is the same for all prompts of a run."""

    day: datetime.date
    """What a template's clock shows."""
    thinking: ThinkingRule | None = None
    """What the plan says of thinking; None: the template decides."""


PLAIN_RULES = Rules(datetime.date(2000, 1, 1))
"""Outside of a run: thinking as the template does, and one day for all time."""


class Rendered(NamedTuple):
    """A case as the model reads it."""

    text: str
    """By its chat template, up to where the answer begins."""
    token_ids: tuple[int, ...]
    way: str
    """How it was handed to the template, in words."""


class Renderer:
    """A tokenizer with what was found out about its chat template."""

    def __init__(self, tokenizer: Any, rules: Rules, end_token_ids: Sequence[int], pad_token: str | None) -> None:  # noqa: ANN401
        """Find out how the template treats system text and tools, whether it reads a clock, and how it thinks.

        Raises:
            UsageError: the plan asks for thinking on or off, and the template has no switch for it; or the template
                draws at random.
        """
        self._tokenizer = tokenizer
        plain = Template(tokenizer, rules.day)
        if read_source(plain).is_random:
            raise UsageError(
                "its chat template draws at random, so that no two variants read the same prompts. Mend the template."
            )
        self.thinking: Thinking = find_thinking(plain, rules.thinking)
        template = plain._replace(options=self.thinking.options)
        self._chooser = Chooser(template)
        self.rendering = Rendering(
            template="model" if template.is_own else "fallback",
            tools="template" if self._is_native((_USER,), (Tool(name="tool"),), "tools") else "fallback",
            system_folded=not self._is_native((Message(role="system", content="Rules"), _USER), (), "system"),
            pad_token=pad_token,
            end_token_ids=tuple(end_token_ids),
            date=rules.day.isoformat() if _reads_clock(template) else None,
            thinking=self.thinking.said,
        )

    def render(self, case: Case) -> Rendered:
        """Render a case in the first way under which all of it is in the prompt.

        Raises:
            RefusedError: there is none, or the tokenizer refuses the text.
        """
        shown = self._chooser.show(Conversation(case.messages, case.tools))
        try:
            ids = self._token_ids(shown.text)
        except BaseException as error:
            raise refusal(error, "the tokenizer refuses its text") from error
        return Rendered(shown.text, ids, str(shown.way))

    def _token_ids(self, text: str) -> tuple[int, ...]:
        """Tokenise rendered text with exactly one BOS, if the model has one at all."""
        ids = list(self._tokenizer(text, add_special_tokens=False)["input_ids"])
        bos = self._tokenizer.bos_token_id
        if bos is None:
            return tuple(ids)
        has_bos = ids[:1] == [bos]
        while ids[1:2] == [bos] and has_bos and self._wants_bos:
            ids.pop(0)
        return tuple(ids if has_bos or not self._wants_bos else [bos, *ids])

    @cached_property
    def _wants_bos(self) -> bool:
        """Whether the tokenizer begins every text with BOS, so that it expects it before a prompt as well."""
        return bool(self._tokenizer("a")["input_ids"][:1] == [self._tokenizer.bos_token_id])

    def _is_native(self, messages: tuple[Message, ...], tools: tuple[Tool, ...], part: str) -> bool:
        ways = self._chooser.ways(Conversation(messages, tools))
        return bool(ways) and getattr(ways[0], part) == "template"


def _reads_clock(template: Template) -> bool:
    """Whether the date is in a prompt."""
    asked = Conversation((_USER,))
    texts = set()
    for day in _PROBE_DAYS:
        try:
            texts.add(Chooser(template._replace(day=day)).show(asked).text)
        except RefusedError:
            return False
    return len(texts) > 1
