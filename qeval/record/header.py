"""What ran, on what, and whether it finished: the header of a record."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from qeval.evidence import ComparabilityLevel, Environment, JudgeInfo, ModelInfo, Proof, Rendering
from qeval.record.lines import SCHEMA_VERSION
from qeval.strict import Strict
from qeval.text_kinds import ModelText, Name, Own, PersonText, TextKind

State = Literal["running", "complete", "crashed", "out_of_memory", "timeout", "unsupported", "interrupted"]


class SuiteInfo(Strict):
    """Which suite, exactly."""

    version: int
    size: Own
    digest: Own
    n_cases: int


class JudgeCost(Strict):
    """What asking the judge took, failed requests included."""

    requests: int
    median_latency_s: float | None
    """Of the last attempt of each request; None where none was made."""
    prompt_tokens: int
    """As the endpoint counts them."""
    answer_tokens: int
    uncounted: int
    """Requests without a count of tokens."""


class PilotTimes(Strict):
    """What answering the pilot's cases took after their prompts were read, seconds: to be read, not to choose by."""

    plain_s: float
    """Decoding them plainly."""
    follow_s: float
    """Following the baseline's answers; 0 where they are followed for fidelity's sake anyway."""
    replay_s: float
    """Replaying them once they were followed."""


class Measurements(Strict):
    """Times, memory and counts of the machine: what may differ between two equal runs."""

    attempts: int = 1
    started_at: Own | None = None
    load_s: float | None = None
    run_s: float | None = None
    prompt_tokens: int = 0
    generated_tokens: int = 0
    tokens_per_s: float | None = None
    """None where answers were replayed: most of their tokens were not decoded."""
    peak_memory_bytes: int | None = None
    """VmHWM of the variant's own process."""
    memory_after_load_bytes: int | None = None
    device_peak_memory_bytes: int | None = None
    score_s: float | None = None
    """What scoring the baseline's answers took; no part of `run_s`, nor is its memory part of the peak."""
    split_batches: int = 0
    """Batches that were answered in parts, since they did not fit in memory."""
    unreplayed_batches: int = 0
    """Batches to be replayed that were decoded plainly, in whole or in part, since replay did not fit in memory."""
    pilot: PilotTimes | None = None
    """None where no pilot of replay ran; but for `plain_s` it is no part of `run_s`."""
    judge: JudgeCost | None = None
    """None where no judge was asked."""


class CaseInfo(Strict):
    """What slices, clusters and reports need to know of a case."""

    suite: Name
    case: Name
    tags: dict[Name, PersonText] = Field(default_factory=dict)
    cluster: PersonText
    tenant: PersonText | None = None
    asked: Own | None = None
    """sha256 over messages and tools: equal prompts are no independent evidence. None in records of older versions."""
    near_equal: Name | None = None
    """`suite/case` of the first of its group of near-equal cases; None: in none, or not known."""
    question: ModelText = ""
    """The last user message, shortened for reading."""
    expected: ModelText = ""
    """The graders as written, shortened for reading."""


Reason = Literal["harm", "acceptance"]
DecodeChoice = Literal["plain", "replay"]


class Stopping(Strict):
    """Early stopping in force for a candidate: the evidence that may end its run, and whether it did."""

    on: tuple[Reason, ...]
    ended: Reason | None = None
    """What ended the run before all cases were answered; the cases ran in random order until then."""


class ReplayPilot(Strict):
    """One batch answered in both ways: does replay give what plain decoding gives?"""

    batch: int
    """Its number."""
    n_cases: int
    same: int
    """Cases whose replay has the very tokens of plain decoding."""
    positions: int
    """Of the baseline's answers to them, end tokens among them."""
    agreed_positions: int
    """Of these, those before the first at which the variant chooses another token, in each case."""
    plain_work: float | None = None
    """What decoding the pilot plainly takes, counted in one token's matrix products; None in records of schema 1."""
    replay_work: float | None = None
    """What replaying it takes, following the baseline's answers included unless fidelity follows them anyway."""


class Replay(Strict):
    """Whether a candidate's answers are decoded plainly, or along the baseline's answers as far as it agrees."""

    chosen: DecodeChoice
    why: Own
    pilot: ReplayPilot | None = None


class FidelityInfo(Strict):
    """What a record's fidelity rests on."""

    reference: Own
    """sha256 over the answers that were scored: the baseline's, by suite and case id."""
    state_bytes: int = 0
    """Size of the hidden states stored, of a baseline; its output head is not counted."""
    reconstruction_kl: float | None = None
    """Largest KL at one position between the distribution as it was and as stored states give it, nats; over one answer
    of each batch."""


class RecordHeader(Strict):
    """What ran, on what, and whether it finished."""

    schema_version: int = SCHEMA_VERSION
    """The schema that the record was written by; an older one is read, and upgraded on the way."""
    variant: Name
    engine: Own
    format: Name
    model: ModelInfo
    suites: dict[Name, SuiteInfo]
    decoding: Annotated[dict[str, Any], TextKind.OWN]
    """Decoding settings in force, greedy unless the variant says otherwise."""
    batches: Own
    """sha256 over the planned batches (case ids in order, for every repeat)."""
    level: ComparabilityLevel = "token_ids"
    rendering: Rendering | None = None
    proof: Proof | None = None
    notes: tuple[Own, ...] = ()
    """What people should know about how the variant computes here, such as a kernel that is emulated."""
    batch_mates: float | None = None
    """Largest move of a logit of a row when only the other rows of its batch change; None where not tested."""
    environment: Environment
    fidelity: FidelityInfo | None = None
    """None where no fidelity was measured; `notes` says why."""
    replay: Replay | None = None
    """None where there is nothing to replay: the baseline, sampled answers, an engine without a cache."""
    stopping: Stopping | None = None
    """None where every case had to be answered."""
    judge: JudgeInfo | None = None
    """None where no judge graded."""
    state: State = "running"
    state_detail: ModelText = ""
    measurements: Measurements = Field(default_factory=Measurements)
    content: dict[Own, Own] | None = None
    """sha256 of each file of a complete record by its name in the folder; None until it is complete, and while a judge
    is grading."""
