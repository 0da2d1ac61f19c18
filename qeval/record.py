"""The Record: one variant's whole result on disk, and the waist of the system.

A record is a folder::

    record.json     RecordHeader: what ran, on what, with which proof; rewritten whole, by atomic rename
    cases.jsonl     CaseInfo: what the reports and slices need to know of each case
    outcomes.jsonl  Outcome with its grades, appended batch by batch as they come; rewritten where a judge graded
    scored.jsonl    one ScoredAnswer a line: the baseline's answer, scored by this variant; where fidelity is measured
    judgements.jsonl  what the judge was asked and replied, where there is one (see `qeval.runner.judgements`)
    log.txt         what the libraries printed (not part of the result)

Everything left of the record needs a model and writes only this; everything right of it reads only this.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, TypeVar

from pydantic import Field, ValidationError

from qeval.errors import UsageError
from qeval.evidence import ComparabilityLevel as ComparabilityLevel
from qeval.evidence import Environment as Environment
from qeval.evidence import JudgeInfo as JudgeInfo
from qeval.evidence import ModelInfo as ModelInfo
from qeval.evidence import Proof as Proof
from qeval.evidence import Rendering as Rendering
from qeval.jsonl import dumps, loads, read_appended, read_text, write_atomic
from qeval.outcome import Outcome
from qeval.scored import ScoredAnswer
from qeval.strict import Strict, validate
from qeval.text_kinds import ModelText, Name, Own, PersonText, TextKind

T = TypeVar("T", bound=Strict)

SCHEMA_VERSION = 1
RECORD_FILE = "record.json"
CASES_FILE = "cases.jsonl"
OUTCOMES_FILE = "outcomes.jsonl"
SCORED_FILE = "scored.jsonl"

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
    """What answering the pilot's cases took after their prompts were read, seconds."""

    plain_s: float
    """Decoding them plainly."""
    follow_s: float
    """Following the baseline's answers; 0 where they are followed for fidelity's sake anyway."""
    replay_s: float
    """Replaying them once they were followed."""
    again_s: float = 0.0
    """Decoding them plainly again in other batches, reading included."""


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
    n_again: int = 0
    """Cases of the pilot that were decoded plainly once more, in other batches; none where no case differed, less than
    all where memory ran out."""
    again_same: int = 0
    """Of these, those with the same tokens both times."""
    replay_alone: int = 0
    """Of these, those that only replay changed."""
    again_alone: int = 0
    """Of these, those that only the other batches changed."""
    p_value: float | None = None
    """One-sided sign test of these two: replay changes more than other batches do; None where both are 0."""


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


class Record(NamedTuple):
    """A record read into memory."""

    header: RecordHeader
    cases: tuple[CaseInfo, ...]
    outcomes: tuple[Outcome, ...]
    scored: tuple[ScoredAnswer, ...] = ()

    def again(self) -> dict[tuple[str, str], tuple[Outcome, ...]]:
        """Return the outcomes of all repeats but the first by (suite, case id), in the order of repeats."""
        found: dict[tuple[str, str], list[Outcome]] = {}
        for outcome in sorted((o for o in self.outcomes if o.repeat > 0), key=lambda o: o.repeat):
            found.setdefault((outcome.suite, outcome.case), []).append(outcome)
        return {key: tuple(outcomes) for key, outcomes in found.items()}

    def by_case(self, repeat: int = 0) -> dict[tuple[str, str], Outcome]:
        """Return the outcomes of one repeat by (suite, case id)."""
        return {(o.suite, o.case): o for o in self.outcomes if o.repeat == repeat}


def save_header(folder: Path, header: RecordHeader) -> None:
    """Write `record.json` by atomic rename."""
    write_atomic(folder / RECORD_FILE, dumps(header.model_dump(mode="json"), indent=1) + "\n")


def save_cases(folder: Path, cases: tuple[CaseInfo, ...]) -> None:
    """Write `cases.jsonl` by atomic rename."""
    write_atomic(folder / CASES_FILE, "".join(f"{dumps(case.model_dump(mode='json'))}\n" for case in cases))


def load_header(folder: Path) -> RecordHeader:
    """Read the header of a record.

    Raises:
        UsageError: no record there, damaged, or written by another version of the schema.
    """
    path = folder / RECORD_FILE
    if not path.is_file():
        raise UsageError(f"{folder}: no record there ({RECORD_FILE} is missing).")
    try:
        value = loads(read_text(path))
    except ValueError as error:
        raise UsageError(f"{path}: damaged ({error}).") from error
    found = value.get("schema_version") if isinstance(value, dict) else None
    if found != SCHEMA_VERSION:
        raise UsageError(f"{path}: schema version {found}; this qeval reads {SCHEMA_VERSION}. Run the variant again.")
    return validate(RecordHeader, value, str(path))


def load_outcomes(folder: Path) -> list[Outcome]:
    """Read the outcomes written so far; a torn last line is dropped, a case that stands twice is an error."""
    path = folder / OUTCOMES_FILE
    outcomes = list(read_appended(path, line_parser(Outcome)))
    seen = Counter((o.suite, o.case, o.repeat) for o in outcomes)
    twice = [key for key, count in seen.items() if count > 1]
    if twice:
        suite, case, repeat = twice[0]
        raise UsageError(f"{path}: case '{case}' of {suite}, repeat {repeat}, stands {seen[twice[0]]} times.")
    return outcomes


def load_record(folder: Path) -> Record:
    """Read a whole record.

    Raises:
        UsageError: a file is missing or damaged; the message names file and line.
    """
    header = load_header(folder)
    for name in (CASES_FILE, OUTCOMES_FILE):
        if not (folder / name).is_file():
            raise UsageError(f"{folder}: the record is damaged, {name} is missing. Run the variant again.")
    cases = tuple(read_appended(folder / CASES_FILE, line_parser(CaseInfo)))
    outcomes = tuple(load_outcomes(folder))
    known = {(case.suite, case.case) for case in cases}
    for outcome in outcomes:
        if (outcome.suite, outcome.case) not in known:
            where = f"{folder / OUTCOMES_FILE}: case '{outcome.case}' of {outcome.suite}"
            raise UsageError(f"{where} is not in {CASES_FILE}. Run the variant again.")
    return Record(header, cases, outcomes, load_scored(folder))


def load_scored(folder: Path) -> tuple[ScoredAnswer, ...]:
    """Read what was scored so far, nothing where the record has no such file; a torn last line is dropped."""
    path = folder / SCORED_FILE
    return tuple(read_appended(path, line_parser(ScoredAnswer))) if path.exists() else ()


def line_parser(kind: type[T]) -> Callable[[str], T]:
    """Return what reads one line that a program wrote; what it raises is a ValueError with one sentence."""

    def parse(text: str) -> T:
        try:
            return kind.model_validate_json(text)
        except ValidationError:
            # pydantic's own parser is several times faster, but refuses lone surrogates.
            value = loads(text)
        try:
            return kind.model_validate(value)
        except ValidationError as error:
            fault = error.errors(include_url=False)[0]
            raise ValueError(f"{'.'.join(map(str, fault['loc'])) or 'content'}: {fault['msg']}") from error

    return parse


def folder_name(variant: str) -> str:
    """Return a file name for a variant: readable, legal everywhere, different for different variants.

    >>> folder_name("nf4"), folder_name("nf4+keep=lm_head")
    ('nf4', 'nf4+keep=lm_head')
    >>> folder_name("bf16+draft=a/b")
    'bf16+draft=a_b-e19c68ca'
    """
    clean = re.sub(r"[^A-Za-z0-9+=._-]", "_", variant)[:100]
    if clean == variant and not clean.startswith("."):
        return clean
    return f"{clean.lstrip('.')}-{hashlib.sha256(variant.encode()).hexdigest()[:8]}"
