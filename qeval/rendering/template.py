"""Apply a tokenizer's chat template: the one place where it runs, and whatever it raises is its refusal.

A template is a program that came with the model. It may raise anything, and it may take very long, which ends here.
"""

from __future__ import annotations

import datetime
import signal
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import FrameType
from typing import Any, NamedTuple

from qeval.rendering.clock import pinned
from qeval.rendering.turns import Given

FALLBACK_TEMPLATE = (
    "{% for message in messages %}{{ message['role'] | capitalize }}: {{ message['content'] }}\n\n{% endfor %}"
    "{% if add_generation_prompt %}Assistant:{% endif %}"
)
"""For models without a chat template: role names in plain text, one blank line between turns."""

LONGEST_S = 10.0
"""What one rendering may take: a template of a public model takes some milliseconds for a long document."""


class RefusedError(Exception):
    """A chat template or a tokenizer refuses a conversation; the message says which, and what it said."""


class TooSlowError(RefusedError):
    """A chat template did not come to an end; trying another way would take as long again."""


class Template(NamedTuple):
    """A tokenizer's chat template, or the fallback, with what is the same for all conversations."""

    tokenizer: Any
    """A transformers tokenizer."""
    day: datetime.date
    """The day that its clock shows."""
    options: Mapping[str, Any] = {}
    """Variables of the template, such as a switch of thinking."""

    @property
    def is_own(self) -> bool:
        """Whether the model has a template of its own."""
        return bool(getattr(self.tokenizer, "chat_template", None))

    def __call__(self, conversation: Given) -> str:
        """Return the text that the model reads, up to where its answer begins.

        Raises:
            RefusedError: the template raised something.
            TooSlowError: it did not come to an end.
        """
        try:
            with pinned(self.day), _ended_after(LONGEST_S):
                return self._apply(conversation)
        except TimeoutError as error:
            raise TooSlowError(f"the chat template did not end within {LONGEST_S:g} s") from error
        except BaseException as error:
            raise refusal(error, "the chat template refuses it") from error

    def _apply(self, conversation: Given) -> str:
        own = {} if self.is_own else {"chat_template": FALLBACK_TEMPLATE}
        tools = {} if conversation.tools is None else {"tools": conversation.tools}
        if not _is_standard(self.tokenizer):
            rendered: str = self.tokenizer.apply_chat_template(
                conversation.messages, tokenize=False, add_generation_prompt=True, **tools, **own, **self.options
            )
            return rendered
        from transformers.utils.chat_template_utils import render_jinja_template

        # Not by apply_chat_template, which takes out every key whose value is None: some templates ask for just that.
        texts, _ = render_jinja_template(
            conversations=[conversation.messages],
            chat_template=self.tokenizer.get_chat_template(own.get("chat_template"), conversation.tools),
            add_generation_prompt=True,
            **tools,
            **{**self.tokenizer.special_tokens_map, **self.options},
        )
        return str(texts[0])


def refusal(error: BaseException, what: str) -> RefusedError:
    """Return the refusal that an exception of other people's code means; what ends the process is raised as it is."""
    # The tokenizers library panics with an exception that derives from BaseException alone.
    if isinstance(error, KeyboardInterrupt | SystemExit | GeneratorExit):
        raise error
    said = str(error).strip().splitlines()
    named = type(error).__name__
    return RefusedError(f"{what}: {named}: {said[0][:300]}" if said else f"{what}: {named}")


def _is_standard(tokenizer: Any) -> bool:  # noqa: ANN401 - transformers is untyped
    from transformers import PreTrainedTokenizerBase

    own = getattr(type(tokenizer), "apply_chat_template", None)
    return own is PreTrainedTokenizerBase.apply_chat_template


@contextmanager
def _ended_after(seconds: float) -> Iterator[None]:
    """Raise TimeoutError in the block when it takes longer; only a process's main thread can."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(number: int, frame: FrameType | None) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
