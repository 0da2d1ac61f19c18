"""The shape of an engine: it renders a case into a prompt, and answers prompts in batches.

An engine never looks at a clock, a file or a grader; whoever calls it measures and records.
"""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

from qeval.chat import ToolCall
from qeval.evidence import ComparabilityLevel, Rendering
from qeval.marks import opened_by
from qeval.outcome import FailedAnswer, Finish, Status
from qeval.suites.case import Case

DECODING: dict[str, Any] = {"do_sample": False, "num_beams": 1, "repetition_penalty": 1.0, "use_cache": True}
"""What every variant decodes with unless it samples; recorded, and compared before a difference means anything."""

OnStep = Callable[[int], None]
"""Called while a batch is answered with the number of tokens generated since the last call."""


class Answer(NamedTuple):
    """An answer that another variant gave, to be followed."""

    tokens: tuple[int, ...]
    ended: bool
    """Whether an end token is known to follow the last."""

    @property
    def positions(self) -> int:
        """Tokens to predict, the end token among them."""
        return len(self.tokens) + self.ended


class Prompt(NamedTuple):
    """A case as the model reads it."""

    suite: str
    case: Case
    token_ids: tuple[int, ...]
    text: str
    """The rendered text, for people."""
    cut_tokens: int = 0
    """How many tokens shorter it is than the whole prompt, which the context could not hold."""
    thought_tokens: int = 0
    """What a thought before the answer may take, beside the case's own limit."""
    way: str = ""
    """How the case was handed to the chat template, in words; empty for engines without one."""
    refused: str = ""
    """Why the case is shown to no variant; empty where it is."""

    @property
    def max_tokens(self) -> int:
        """What may be generated at most: the answer, and the thought before it."""
        return self.case.max_new_tokens + self.thought_tokens

    @property
    def digest(self) -> str:
        """sha256 over the token ids as little-endian 32-bit integers."""
        return hashlib.sha256(array("i", self.token_ids).tobytes()).hexdigest()

    @property
    def opened(self) -> str:
        """The mark by which the prompt opens a thought; empty where it opens none."""
        return opened_by(self.text)


class Generation(NamedTuple):
    """What an engine produced for one prompt."""

    status: Status = "answered"
    text: str = ""
    """With its special tokens, without end token and padding."""
    special: tuple[str, ...] | None = None
    """The special tokens in the text; None where they are not known."""
    token_ids: tuple[int, ...] = ()
    """Generated tokens up to and without the end token, or with the one that completed a stop text of the case."""
    finish: Finish | None = None
    failure: FailedAnswer | None = None
    tool_calls: tuple[ToolCall, ...] | None = None
    detail: str = ""
    states: Any = None
    """Final hidden states (positions, hidden), one a token and one more where the answer ended; None unless kept."""


class Reading(Protocol):
    """A batch whose prompts were read and are not yet answered; it stays so whatever is done with it."""

    followed: bool
    """Whether answers were followed."""

    def follow(self, answers: Sequence[Answer | None]) -> list[Any]:
        """Return for each prompt the final hidden states, shape (positions, hidden), that predict an answer to it."""

    def replay(self, on_step: OnStep) -> list[Generation]:
        """Answer the prompts along what was followed last: as far as each choice is the same, and decode from there."""


OnRead = Callable[[Reading], "list[Generation] | None"]
"""Called when the prompts of a batch are read; returns their answers, or None to have them decoded."""


class Engine(Protocol):
    """What answers cases for one variant."""

    name: str
    level: ComparabilityLevel
    rendering: Rendering
    thought_tokens: int | None
    """What a thought before the answer may take; None where none is expected."""
    context_tokens: int | None
    """Longest prompt plus answer the variant can hold; None where unknown."""
    can_replay: bool
    """Whether what was read can be cut and moved row by row, so that answers can be replayed."""

    def render(self, suite: str, case: Case) -> Prompt:
        """Turn a case into the prompt the model reads.

        Raises:
            RefusedError: it cannot be shown whole.
        """

    def set_threads(self, threads: int) -> None:
        """Compute with so many CPU threads from now on."""

    def read_apart(self) -> None:
        """Read every prompt whole from now on, whatever it shares with others."""

    def cache_bytes(self, prompts: Sequence[Prompt]) -> int | None:
        """Return what a batch's cache takes of this process's memory while it is filled; None where not known."""

    def answer(self, prompts: Sequence[Prompt], on_step: OnStep, on_read: OnRead | None = None) -> list[Generation]:
        """Answer a batch, in order; a trouble of one case is its own `Generation`, never an exception."""

    def batch_mates(self, seed: int) -> float | None:
        """Return the largest move of a logit of a row when only its batch mates change; None where not tested."""
