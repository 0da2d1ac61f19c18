"""What the self-test plants, and what the gate must make of each."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

from qeval.compare.report import DecisionRuling
from qeval.runner.plan import VariantEntry
from qeval.selftest.copies import linked_copy
from qeval.selftest.damage import damaged_copy, noise, one_nan, projections
from qeval.selftest.faults import with_another_template, with_first_token_dropped
from qeval.units import percent

MODEL = "smollm2-135m"
BASELINE = "fp32"
QUANTIZED = "nf4"
"""Whose header and proof stand over answers from a cache."""
FIRST_TOKEN = "<|im_start|>"
"""What the chat template of the embedded model begins every prompt with."""
LAYERS = range(10, 14)
LATE_WEIGHT = r"model\.layers\.28\.mlp\.down_proj\.weight"

_STOPPED: tuple[DecisionRuling, ...] = ("regressed", "inconclusive")

MakeModel = Callable[[Path, Path], Path]
"""Given the model's folder and a folder that does not exist yet, write a copy there and return it."""


class Planted(NamedTuple):
    """One candidate with something planted in it."""

    name: str
    """Of the variant."""
    what: str
    """For people."""
    allowed: tuple[DecisionRuling, ...]
    """Decisions that are as they should be."""
    says: str = ""
    """What the report must say of it besides, so that it is stopped for the right reason."""
    make: MakeModel | None = None
    """Writes its model; None: the model itself."""
    format: str = BASELINE
    cached: bool = False
    """No run of its own: the record of `QUANTIZED` with the baseline's answers."""

    def entry(self, model: Path, folder: Path) -> VariantEntry:
        """Write its model into a new folder of `folder`, where it has one of its own, and return its plan entry."""
        place = None if self.make is None else str(self.make(model, folder / self.name.replace("*", "all")))
        return VariantEntry(name=self.name, format=self.format, model=place)


class Arm(NamedTuple):
    """What is compared with one run of the baseline, over one size of the suite."""

    name: str
    each: int
    """Cases of each kind of question."""
    planted: tuple[Planted, ...]
    more: tuple[str, ...] = ()
    """Formats that run besides."""


EACH, EACH_QUICK, EACH_PROMPTS = 100, 27, 5
MATES = "int8+threshold=0 ends that"
"""What the batch-mate test names where the library's own setting is in force."""
IDENTICAL = "every answer equals the baseline's in every token"
_OTHER_PROMPT = "another prompt than the baseline's"


def arms(*, quick: bool) -> tuple[Arm, ...]:
    """Return all that is planted; `quick`: damage is looked for with fewer cases.

    The cases of `answers` suffice to accept equal answers (133 pairs for a margin of 2 points) and to doubt them (1,000
    tokens). A fault of prompts shows in the first case.
    """
    return (
        Arm("damage", EACH_QUICK if quick else EACH, _damages(quick=quick)),
        Arm("answers", EACH_QUICK, _answers(), (QUANTIZED,)),
        Arm("prompts", EACH_PROMPTS, _prompts()),
    )


def _damages(*, quick: bool) -> tuple[Planted, ...]:
    """Return damage of three sizes, and none.

    The amounts of noise were chosen by their measured loss on the cases of `--quick` (docs/selftest.md). Quick, there
    are too few cases to prove the two smaller losses, so they may stay open; they are accepted in neither.
    """
    return (
        Planted("fp32-repeat", "nothing: fp32 a second time (A/A)", ("accepted",), IDENTICAL),
        _noisy("damage-3", 0.06, _STOPPED),
        _noisy("damage-8", 0.10, _STOPPED if quick else ("regressed",)),
        _noisy("damage-30", 0.17, ("regressed",)),
    )


def _answers() -> tuple[Planted, ...]:
    cached = "the answers are the baseline's"
    return (
        Planted("renamed", "the same weights under another name", ("accepted",), IDENTICAL, linked_copy),
        Planted("nf4-cached", "nf4 that answers from the baseline's cache", ("not_comparable",), cached, cached=True),
    )


def _prompts() -> tuple[Planted, ...]:
    unbegun = partial(with_first_token_dropped, first=FIRST_TOKEN)
    nothing, kept = "nothing was quantised", "int8+keep=*"
    return (
        Planted("no-first-token", "first token of every prompt dropped", ("not_comparable",), _OTHER_PROMPT, unbegun),
        Planted("other-template", "another chat template", ("not_comparable",), _OTHER_PROMPT, with_another_template),
        Planted(kept, "int8 that quantises nothing", ("incomplete",), nothing, format=kept),
        Planted("one-nan", "NaN in one weight of a late layer", ("regressed",), "broken: NaN", _broken),
        Planted("int8", "LLM.int8, whose rows depend on their batch mates", _STOPPED, MATES, format="int8"),
    )


def _noisy(name: str, share: float, allowed: tuple[DecisionRuling, ...]) -> Planted:
    def make(source: Path, target: Path) -> Path:
        return damaged_copy(source, target, projections(LAYERS), noise(share))

    where = f"layers {LAYERS.start} to {LAYERS.stop - 1}"
    return Planted(name, f"noise of {percent(share, 0)} in the weights of {where}", allowed, make=make)


def _broken(source: Path, target: Path) -> Path:
    return damaged_copy(source, target, LATE_WEIGHT, one_nan)
