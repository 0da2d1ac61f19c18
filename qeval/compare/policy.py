"""Policy: what a team accepts, written down before the run.

Every threshold is a share in (0, 1] or [0, 1]: 0.02 is two points. NaN, infinity, negative numbers, text and numbers
above 1 are usage errors, since any of them would silently switch a gate off.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, field_validator, model_validator

from qeval.compare.power import smallest_margin
from qeval.compare.report import Level, SliceKey
from qeval.compare.slices import parse_slice
from qeval.errors import UsageError
from qeval.jsonl import dumps
from qeval.strict import Strict, load_yaml
from qeval.text_kinds import Name, SliceName

Amount = Annotated[float, Field(strict=True, ge=0, le=1)]
LEAST_MARGIN = 1e-4
Margin = Annotated[float, Field(strict=True, ge=LEAST_MARGIN, lt=1)]
Auto = Literal["auto"]


def _auto_or_share(value: object) -> object:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if value != "auto" and not (is_number and LEAST_MARGIN <= value < 1):  # type: ignore[operator]
        raise ValueError(f"must be auto, or a number from {LEAST_MARGIN} to under 1")
    return value


def _by_slice(value: object) -> object:
    return value if value is None or isinstance(value, dict) else {"all": value}


def _all_best_or_names(value: object) -> object:
    if value not in ("all", "best") and not (isinstance(value, list | tuple) and value):
        # An empty list would accept everything.
        raise ValueError("must be all, best, or a list that names candidates")
    return value


MarginOrAuto = Annotated[float | Auto, BeforeValidator(_auto_or_share, json_schema_input_type=Margin | Auto)]
Thresholds = Annotated[
    dict[SliceName, Amount], BeforeValidator(_by_slice, json_schema_input_type=Amount | dict[str, Amount])
]
Positive = Annotated[float, Field(strict=True, gt=0)]
PositiveBySlice = Annotated[
    dict[SliceName, Positive], BeforeValidator(_by_slice, json_schema_input_type=Positive | dict[str, Positive])
]
Candidates = Annotated[Literal["all", "best"] | tuple[Name, ...], BeforeValidator(_all_best_or_names)]

SMALLEST_AUTO_MARGIN = 0.03
FEWEST_CASES = 30
"""A slice with fewer cases is too few to judge; it gates only if the policy names it."""


class Margins(Strict):
    """The loss that must be excluded before a candidate passes, as a difference of pass rates."""

    pool: Margin = 0.02
    """Over all suites together."""
    suites: dict[Name, MarginOrAuto] = Field(default_factory=dict)
    """Per suite; `auto` (also for suites not listed) is what the suite's number of cases can be planned to hold."""
    slices: dict[SliceName, MarginOrAuto] = Field(default_factory=dict)
    """Per required slice, under the name it has in `required`."""


class Limits(Strict):
    """Hard limits, compared in whole counts. They can only make a decision worse.

    A number holds for the pool of all suites; a mapping names slices: `all`, a suite, `longdoc/depth=0.9`.
    """

    max_net_loss: Thresholds | None = None
    """Losses minus gains, as a share of the pairs."""
    min_pass_rate: Thresholds | None = None
    """Cases the candidate passes, as a share of the pairs."""
    min_scored: Thresholds = Field(default={"all": 0.95})
    """Cases that both variants answered, as a share of the planned ones; below it the decision is *incomplete*.
    For the pool it is 0.95 unless another number is given."""

    @field_validator("min_scored", mode="after")
    @classmethod
    def _pool_keeps_its_limit(cls, value: dict[str, float]) -> dict[str, float]:
        return {"all": 0.95, **value}

    @model_validator(mode="after")
    def _names_are_slices(self) -> Limits:
        for written in (self.max_net_loss, self.min_pass_rate, self.min_scored):
            for name in written or ():
                parse_slice(name)
        return self


class FidelityBounds(Strict):
    """How far the candidate's token distributions may lie from the baseline's: mean KL, over all positions of a slice.

    Where both bounds name a slice, the larger one is what is allowed: near the noise a multiple is no bound, since
    the noise of fp32 is almost zero. A bound that cannot be checked is said aloud, and where it is critical the
    decision is *incomplete*.
    """

    max_kl_over_noise: PositiveBySlice | None = None
    """As a multiple of the noise floor: the larger mean KL of the two variants against themselves."""
    max_kl: PositiveBySlice | None = None
    """In nats."""
    level: Level = "advisory"
    """Advisory: shown when broken, decides nothing, since near the baseline KL does not rank quality."""

    @model_validator(mode="after")
    def _names_are_slices(self) -> FidelityBounds:
        for name in (*(self.max_kl_over_noise or ()), *(self.max_kl or ())):
            parse_slice(name)
        return self

    @property
    def decides(self) -> bool:
        """Whether there is a bound that the decision depends on."""
        return self.level == "critical" and bool(self.max_kl_over_noise or self.max_kl)


class Policy(Strict):
    """What a team accepts; an empty file is the built-in default."""

    alpha: Annotated[float, Field(strict=True, ge=1e-6, le=0.49)] = 0.05
    """Chance of a false alarm over the whole family, and of passing a loss as large as the margin."""
    planning_flip_rate: Annotated[float, Field(strict=True, gt=0, le=1)] = 0.10
    """Share of cases expected to flip: sets `auto` margins and says how many cases are needed."""
    margins: Margins = Field(default_factory=Margins)
    required: tuple[SliceName, ...] = ()
    """Slices that gate besides the suites: `lang=de`, `longdoc/depth=0.9`, the cross `lang=de&depth=0.9`, a suite."""
    level: dict[Name, Level] = Field(default_factory=dict)
    """Per suite; suites not listed are critical. An advisory suite is shown and does not gate by itself."""
    limits: Limits = Field(default_factory=Limits)
    fidelity: FidelityBounds = Field(default_factory=FidelityBounds)
    candidates_required: Candidates = "all"
    """Candidates whose decision is the run's. `best`: one accepted candidate is enough, the smallest is taken, and
    alpha is divided by their number, since the best of many is accepted wrongly more often than each."""
    privacy: Literal["hashes", "full"] = "hashes"
    """What may leave for a tracking server that is not a local file."""

    @model_validator(mode="after")
    def _names_make_sense(self) -> Policy:
        named = [parse_slice(name) for name in self.required]
        for name in self.margins.slices:
            if parse_slice(name) not in named:
                raise ValueError(f"margins.slices names '{name}', which 'required' does not list; add it there")
        for key in named:
            if key.tag is None and self.level.get(key.suite or "") == "advisory":
                raise ValueError(f"suite '{key.suite}' is both required and advisory; keep one of the two")
        return self

    @property
    def digest(self) -> str:
        """sha256 over the whole content."""
        return hashlib.sha256(dumps(self.model_dump(mode="json")).encode()).hexdigest()

    @property
    def required_slices(self) -> tuple[SliceKey, ...]:
        """The required slices, each once."""
        return tuple(dict.fromkeys(parse_slice(name) for name in self.required))

    def alpha_of(self, candidates: int) -> float:
        """Return the level of each of so many candidates.

        Where the best of them is taken, their chances of error add up, and each has its share (Bonferroni), however
        the best one is chosen.
        """
        return self.alpha / candidates if self.candidates_required == "best" else self.alpha

    def level_of(self, suite: str) -> Level:
        """Return whether a suite gates."""
        return self.level.get(suite, "critical")

    def margin_of(self, key: SliceKey, n_cases: int) -> float:
        """Return the margin of a slice with this many planned cases (answered or not).

        `auto` is max(3 points, the smallest margin that so many cases are planned to hold). It is never wider than
        that of 30 cases: a smaller slice must show more, not less.
        """
        if key == SliceKey():
            return self.margins.pool
        written: dict[SliceKey, float | Auto] = {SliceKey(suite=suite): m for suite, m in self.margins.suites.items()}
        written |= {parse_slice(name): margin for name, margin in self.margins.slices.items()}
        margin = written.get(key, "auto")
        if margin != "auto":
            return margin
        held = smallest_margin(self.planning_flip_rate, max(n_cases, FEWEST_CASES), self.alpha)
        return min(max(SMALLEST_AUTO_MARGIN, held), 1.0)


def load_policy(path: Path | None) -> Policy:
    """Read a policy file; None: the built-in default.

    Raises:
        UsageError: every fault found, with file, key and what is allowed.
    """
    return Policy() if path is None else load_yaml(Policy, path)


def check_candidates(policy: Policy, candidates: tuple[str, ...]) -> None:
    """Refuse a policy that requires a candidate which the run does not have."""
    if not isinstance(policy.candidates_required, tuple):
        return
    for name in policy.candidates_required:
        if name not in candidates:
            raise UsageError(f"the policy requires candidate '{name}'; this run has {', '.join(candidates) or 'none'}.")


def policy_json_schema() -> dict[str, Any]:
    """Return the JSON Schema of a policy file, for editors."""
    return Policy.model_json_schema()
