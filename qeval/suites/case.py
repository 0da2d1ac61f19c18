"""Suite and Case: what people write, strictly checked before any model loads."""

from __future__ import annotations

import hashlib
import operator
from itertools import pairwise
from typing import Annotated, Any, Literal

from pydantic import Field, field_validator, model_validator

from qeval.chat import BareSchema, Message, Tool
from qeval.errors import unknown_name
from qeval.jsonl import dumps
from qeval.strict import Strict

Size = Literal["smoke", "standard", "full"]
SIZES: tuple[Size, ...] = ("smoke", "standard", "full")


def size_called(name: str) -> Size:
    """Return the size of this name.

    Raises:
        UsageError: there is none.
    """
    for size in SIZES:
        if size == name:
            return size
    raise unknown_name("size", name, SIZES)


class Case(Strict):
    """One question to a model, what is expected of the answer, and where it belongs."""

    id: str = Field(min_length=1, max_length=500)
    messages: tuple[Message, ...] = Field(min_length=1)
    tools: tuple[Tool, ...] = ()
    response_schema: Annotated[dict[str, Any] | None, BareSchema] = None
    """A JSON Schema the answer is asked to follow; told to the model by the prompt, not enforced."""
    graders: tuple[dict[str, Any], ...] = Field(min_length=1)
    """Each `{"kind": NAME, ...options}`; see `qeval.grading`."""
    tags: dict[str, str] = Field(default_factory=dict)
    """What slices are made of, such as `lang: de`, `depth: "0.9"`."""
    cluster: str | None = None
    """What the case shares with others: document, template, translation source. None: a cluster of its own."""
    tenant: str | None = None
    max_new_tokens: int = Field(default=64, ge=1, le=100_000)
    truncate: Literal["middle"] | None = Field(default=None, exclude_if=operator.not_)
    """What to do with a prompt that the context cannot hold: None leaves the case out as `over_context`; `middle` cuts
    the middle of its longest turn and says how much went. Left out of what is written where it is None."""
    stop: tuple[Annotated[str, Field(min_length=1)], ...] = Field(default=(), exclude_if=operator.not_)
    """Texts that end the answer and are no part of it, in any width or normal form; see `qeval.suites.stops`.

    Left out of what is written where there are none, so that suites without them keep their digests."""

    @field_validator("id", mode="before")
    @classmethod
    def _number_is_text(cls, value: object) -> object:
        # 1 and "1" would be one file name and one row in every report, so they are one id.
        return str(value) if isinstance(value, int) and not isinstance(value, bool) else value

    @field_validator("tags", mode="before")
    @classmethod
    def _tag_values_are_text(cls, value: object) -> object:
        if not isinstance(value, dict):
            return value
        return {key: str(tag) if isinstance(tag, int | float) else tag for key, tag in value.items()}

    @model_validator(mode="after")
    def _turns_make_sense(self) -> Case:
        if self.messages[-1].role not in {"user", "tool"}:
            raise ValueError(f"the last message is of the {self.messages[-1].role}; it must be of the user or a tool")
        if any(message.role == "system" for message in self.messages[1:]):
            raise ValueError("a system message may only come first")
        roles = [message.role for message in self.messages if message.role != "system"]
        if roles[0] != "user":
            raise ValueError(f"the first message after the system's is of the {roles[0]}; it must be of the user")
        for first, second in pairwise(roles):
            if first == second and first in {"user", "assistant"}:
                raise ValueError(f"two {first} messages in a row; merge them (many chat templates refuse it)")
        return self


class SuiteHeader(Strict):
    """The content of `suite.yaml`."""

    name: str = Field(min_length=1, pattern=r"^[a-z0-9][a-z0-9_-]*$")
    version: int = Field(ge=1)
    description: str = Field(min_length=1)
    """Which product use the suite stands for, in a sentence."""
    generator: str | None = None
    """A Python file in the suite's folder with `generate(size, seed) -> list of cases`; else cases.jsonl is read."""
    seed: int = 0
    max_new_tokens: int | None = Field(default=None, ge=1)
    """Default limit for cases that name none."""


class Suite(Strict):
    """A named, versioned set of cases at one size."""

    name: str
    version: int
    description: str
    size: Size
    cases: tuple[Case, ...]

    @property
    def digest(self) -> str:
        """sha256 over the whole content: two records are comparable only where it is equal."""
        return hashlib.sha256(dumps(self.model_dump(mode="json")).encode()).hexdigest()
