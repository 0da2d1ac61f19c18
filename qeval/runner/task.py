"""What the parent hands to a variant's process, and what that process says back."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal, NamedTuple

from qeval.engines.head import HeadRule
from qeval.models.resolved import ResolvedModel
from qeval.record import Reason, State
from qeval.rendering.renderer import PLAIN_RULES, Rules
from qeval.runner.preflight import Preflight
from qeval.suites.case import Suite
from qeval.variants.spec import Variant

Decode = Literal["auto", "plain", "replay"]
"""How a candidate's first answers are decoded: as a pilot decides, or as asked."""


class Task(NamedTuple):
    """Everything a variant's process needs; pickled into it."""

    folder: Path
    """The record's folder, which exists."""
    name: str
    spec: Variant
    model: ResolvedModel | None
    """None for engines that load no model."""
    suites: tuple[Suite, ...]
    near_equal: Mapping[tuple[str, str], str]
    """Group of near-equal cases, by suite and case id, of those that are in one."""
    device: str
    threads: int
    batch_size: int
    batch_tokens: int
    again: dict[str, int]
    """Cases of each suite that run again, in other batches."""
    repeats: int
    """How often they run again."""
    repeat_threads: int | None
    """CPU threads of the repeats; None: as many as of the first run."""
    in_waves: bool
    """Cases come in random order, so that a run may be ended early."""
    stop_on: tuple[Reason, ...]
    """What may end this variant's run."""
    seed: int
    head: HeadRule
    temperature: float
    samples: int
    fidelity: bool
    """Whether token-level fidelity is measured."""
    reverse_kl: bool
    """Whether fidelity includes KL(candidate || baseline)."""
    decode: Decode
    baseline: Path | None
    """The baseline's record, which a candidate follows; None for the baseline itself."""
    script: Path | None
    resume: bool
    rules: Rules = PLAIN_RULES
    """What is the same for all prompts of the run."""
    refused: Mapping[str, Mapping[str, str]] = {}
    """Cases that no variant is shown: suite -> case id -> why."""


class Stage(NamedTuple):
    """The process entered a stage, such as `loading`."""

    text: str


class Planned(NamedTuple):
    """How many answers there are to give, and how many a resumed record holds already."""

    answers: int
    done: int


class Step(NamedTuple):
    """Tokens generated since the last message."""

    tokens: int


class Advanced(NamedTuple):
    """Answers given and stored since the last message."""

    answers: int


class Look(NamedTuple):
    """All answers so far are stored; the process waits to be told whether they end the run."""


class Failed(NamedTuple):
    """The variant cannot go on; `usage` marks what the person must mend before a resume."""

    state: State
    detail: str
    usage: bool = False


class Done(NamedTuple):
    """The record is complete."""

    state: Literal["complete"] = "complete"


Said = Preflight | Stage | Planned | Step | Advanced | Look | Failed | Done
