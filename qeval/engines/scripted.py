"""The scripted engine: answers read from a file. For tests, tutorials and trying a policy without a model.

A script is a YAML file::

    default: "I do not know."          # what a variant answers where nothing else is said
    variants:
      fp32:
        answers: {case-1: "Oslo", case-2: "42"}
      nf4:
        answers:
          case-1: "Bergen"
          case-2: {status: endpoint_error, detail: "HTTP 503"}
        crash_at: case-7               # the process dies when it comes to this case
        hang_at: case-8                # the process never answers this case
        same_as: fp32                  # what is not given here is answered as this variant does

Its tokens are the bytes of the text, so prompts hash and texts compare as they do with a real model.
"""

from __future__ import annotations

import hashlib
import os
import signal
from collections.abc import Sequence
from pathlib import Path

from pydantic import Field

from qeval.engines.base import Generation, OnRead, OnStep, Prompt
from qeval.errors import UsageError, unknown_name
from qeval.evidence import ComparabilityLevel, Rendering
from qeval.outcome import FailedAnswer, Finish, Status
from qeval.strict import Strict, load_yaml
from qeval.suites.case import Case
from qeval.suites.stops import find_stop


class ScriptedAnswer(Strict):
    """One answer in full, where a plain text does not say enough."""

    text: str = ""
    status: Status = "answered"
    detail: str = ""
    finish: Finish = "stop"
    failure: FailedAnswer | None = None


class ScriptedVariant(Strict):
    """What one variant answers."""

    default: str | None = None
    answers: dict[str, str | ScriptedAnswer] = Field(default_factory=dict)
    same_as: str | None = None
    crash_at: str | None = None
    """Case id at which the process kills itself, as an out-of-memory killer would."""
    hang_at: str | None = None
    """Case id that is never answered."""


class Script(Strict):
    """The whole file."""

    default: str = ""
    variants: dict[str, ScriptedVariant]


def load_script(path: Path) -> Script:
    """Read and check a script file.

    Raises:
        UsageError: the file cannot be read, an unknown key, or `same_as` of a variant that is not there or in a circle.
    """
    script = load_yaml(Script, path)
    for name, variant in script.variants.items():
        if variant.same_as is not None and variant.same_as not in script.variants:
            raise UsageError(
                f"{path}: variants.{name}.same_as: {unknown_name('variant', variant.same_as, script.variants)}"
            )
    for name in script.variants:
        _refuse_circle(path, script, name)
    return script


def _refuse_circle(path: Path, script: Script, name: str) -> None:
    seen = [name]
    while (following := script.variants[seen[-1]].same_as) is not None:
        if following in seen:
            raise UsageError(f"{path}: same_as goes round in a circle: {' -> '.join([*seen, following])}")
        seen.append(following)


class ScriptedEngine:
    """Answers prompts from a script."""

    name = "scripted"
    level: ComparabilityLevel = "token_ids"
    rendering = Rendering(template="none", tools="none", system_folded=False)
    thought_tokens: int | None = None
    context_tokens: int | None = None
    can_replay = False

    def __init__(self, script: Script, variant: str) -> None:
        """Choose the variant's part of the script.

        Raises:
            UsageError: the script has no such variant.
        """
        if variant not in script.variants:
            raise unknown_name("variant in the script", variant, script.variants)
        self._script = script
        self._variant = script.variants[variant]

    def render(self, suite: str, case: Case) -> Prompt:
        """Join the messages; the tokens are the bytes of the text."""
        text = "\n".join(f"{message.role}: {message.content}" for message in case.messages)
        return Prompt(suite, case, tuple(text.encode("utf-8", errors="replace")), text)

    def set_threads(self, threads: int) -> None:
        """Do nothing: a script is not computed."""

    def cache_bytes(self, prompts: Sequence[Prompt]) -> None:
        """Return None: there is no cache."""

    def read_apart(self) -> None:
        """Do nothing: nothing is read."""

    def answer(self, prompts: Sequence[Prompt], on_step: OnStep, on_read: OnRead | None = None) -> list[Generation]:
        """Look each answer up."""
        generations = []
        for prompt in prompts:
            if prompt.case.id == self._variant.crash_at:
                os.kill(os.getpid(), signal.SIGKILL)
            if prompt.case.id == self._variant.hang_at:
                signal.pause()
            generations.append(self._look_up(prompt.case))
            on_step(len(generations[-1].token_ids))
        return generations

    def batch_mates(self, seed: int) -> None:
        """Test nothing: there are no logits."""

    def _look_up(self, case: Case) -> Generation:
        found = _said(self._script, self._variant, case.id)
        answer = ScriptedAnswer(text=found) if isinstance(found, str) else found
        if answer.status != "answered":
            return Generation(status=answer.status, detail=answer.detail)
        failure = answer.failure
        if failure is None and not answer.text.strip():
            failure = "empty"
        elif failure is None and answer.finish == "length":
            failure = "truncated"
        place = find_stop(answer.text, case.stop)
        text = answer.text[: place.end] if place else answer.text
        tokens = tuple(text.encode("utf-8", errors="replace"))
        return Generation(text=text, token_ids=tokens, finish=answer.finish, failure=failure)


def _said(script: Script, variant: ScriptedVariant, case_id: str) -> str | ScriptedAnswer:
    """Return a variant's own answer or default, else what the variant says that it is the same as."""
    if case_id in variant.answers:
        return variant.answers[case_id]
    if variant.default is not None:
        return variant.default
    return script.default if variant.same_as is None else _said(script, script.variants[variant.same_as], case_id)


def script_identity(path: Path) -> str:
    """sha256 of the script file: what stands for the weights of a scripted variant."""
    return hashlib.sha256(path.read_bytes()).hexdigest()
