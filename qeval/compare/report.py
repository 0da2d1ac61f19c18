"""The Report and its parts: a pure function of records and a policy, and all that a renderer may use."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from qeval.compare.fidelity_result import CandidateFidelity, Divergence
from qeval.compare.slice_key import Role as Role
from qeval.compare.slice_key import Share as Share
from qeval.compare.slice_key import SliceKey as SliceKey
from qeval.independence import Independence
from qeval.record import ComparabilityLevel, Environment, PilotTimes, Proof, Replay, State, SuiteInfo
from qeval.strict import Strict
from qeval.text_kinds import Composed, ModelText, Name, Own, PersonText, TextKind

Ruling = Literal["regressed", "equivalent", "improved", "inconclusive"]
DecisionRuling = Literal["accepted", "regressed", "inconclusive", "not_comparable", "incomplete"]
Level = Literal["critical", "advisory"]
ChangeKind = Literal["right_to_wrong", "wrong_to_right", "wrong_to_other_wrong", "text_changed", "no_answer"]


class SelfFlips(Strict):
    """How often a variant disagrees with itself when only the batching changes."""

    n: int
    """Cases that ran more than once."""
    runs: int = 2
    """Runs of a case, the first included; the most where they differ."""
    flips: int
    """Of these cases, those whose pass changed in any run."""
    changed_texts: int
    divergences: int
    """Cases of which any run left the first at some token."""
    rate: Share
    """Chance that two runs of a case disagree on passing: the noise floor, as a flip rate."""


class Stratum(Strict):
    """A part of the cases that ran more than once."""

    n: int
    losses: int
    gains: int


class ExcessChurn(Strict):
    """Flip rate between the variants less the mean of their own: what the change made beyond noise."""

    flip_rate: Share
    """Chance that a run of one variant disagrees with a run of the other."""
    estimate: float
    low: float
    """Lower end of the 1 - 2 alpha interval."""
    high: float


class Verdict(Strict):
    """One candidate x metric x slice, with every number it rests on."""

    metric: Name
    slice: SliceKey
    role: Role
    level: Level
    ruling: Ruling
    reason: Composed
    """In a sentence: what the interval shows, or what is missing."""
    flags: tuple[Own, ...] = ()
    """Such as `too_few`, `baseline_floor`, `two_sided`, `small_real_loss`, `few_clusters`."""
    n: int
    """Pairs in which both answered and were graded; equal prompts are one pair, with the mean of their results."""
    planned: int = 0
    """Cases of the slice, answered or not, each by itself."""
    copies: int = 0
    """Graded pairs whose prompt another of the slice has already: they are no part of `n`."""
    clusters: int
    effective_n: float | None = None
    """Independent yes/no pairs that would say as much, at most `n`: cases that share a cluster count for less."""
    baseline_passed: float
    """Cases passed; a fraction where cases ran repeatedly (their mean counts), a sum of scores where that is the
    metric."""
    candidate_passed: float
    losses: int
    """Pairs whose value fell: right in the baseline, wrong in the candidate."""
    gains: int
    changed_wrong: int
    """Wrong in both, with another text."""
    changed_text: int
    """Pairs whose texts differ, whatever their grades."""
    difference: float | None
    """Candidate minus baseline pass rate."""
    low: float | None
    """Lower end of the 1 - 2 alpha interval (Tango) of `difference`; of a run that was ended early, of its confidence
    sequence."""
    high: float | None
    p_harm: Share | None
    """One-sided mid-p of McNemar's test for harm; of a run that was ended early, 1 / e-value."""
    p_harm_adjusted: Share | None
    """After Holm (pool, suites, required slices of one candidate) or Benjamini-Hochberg (exploratory)."""
    p_gain: Share | None
    p_gain_adjusted: Share | None
    p_noninferior: Share | None
    margin: Share
    smallest_detectable: float | None
    """The drop this effective n would have shown with power .8 at the planning flip rate, in a gating slice at Holm's
    hardest step; None: none at all."""
    cases_needed: int | None
    """Pairs that would settle it if nothing is wrong, at the planning flip rate or the one seen where that is
    higher; None when settled, and when there are that many already."""
    unanswered: dict[Own, int] = Field(default_factory=dict)
    """Cases the baseline answered and the candidate did not, by class."""
    baseline_unanswered: dict[Own, int] = Field(default_factory=dict)
    baseline_self: SelfFlips | None = None
    candidate_self: SelfFlips | None = None
    excess_churn: ExcessChurn | None = None
    stable: Stratum | None = None
    """Of the cases that ran more than once, those that no run of either variant flipped."""
    unstable: Stratum | None = None
    """Those that flipped against themselves in either variant; they count like all others."""
    shrunken: float | None = None
    """`difference` of an exploratory slice pulled towards those of the other values of its tag: for ranking alone."""

    @property
    def cases_more(self) -> int | None:
        """Cases that are missing to `cases_needed`."""
        return None if self.cases_needed is None else self.cases_needed - self.n

    @property
    def gates(self) -> bool:
        """Whether the decision depends on it."""
        return self.level == "critical" and self.role != "exploratory"

    @property
    def baseline_rate(self) -> float | None:
        """Pass rate of the baseline over the pairs, None without pairs."""
        return self.baseline_passed / self.n if self.n else None

    @property
    def candidate_rate(self) -> float | None:
        """Pass rate of the candidate over the pairs, None without pairs."""
        return self.candidate_passed / self.n if self.n else None


class LimitResult(Strict):
    """One limit of the policy, held or broken, with the threshold beside the value."""

    name: Own
    slice: SliceKey
    level: Level = "critical"
    """An advisory one is shown when broken and decides nothing."""
    broken: bool
    text: Composed
    """Such as `net loss 12 of 160 cases, allowed 8 (max_net_loss 0.05)`."""


class Comparability(Strict):
    """Whether the two records may be compared, at which level, and what to be careful about."""

    level: ComparabilityLevel
    faults: tuple[Composed, ...] = ()
    """Any of these makes the candidate not comparable."""
    cautions: tuple[Composed, ...] = ()


class PassAtK(Strict):
    """Of sampled answers: how often one, or all, of k samples of a case pass; means over the cases."""

    k: int
    n: int
    """Cases with k graded samples at least."""
    at_least_one: Share
    """pass@k."""
    all_of_them: Share
    """pass^k."""


class VariantSummary(Strict):
    """One record's headline: what it is, what it cost, whether it finished."""

    variant: Name
    engine: Own
    format: Name
    state: State
    state_detail: ModelText
    proof: Proof | None
    notes: tuple[Own, ...] = ()
    """How it computes here, such as a kernel that is emulated."""
    load_s: float | None
    run_s: float | None
    tokens_per_s: float | None
    replay: Replay | None = None
    """How its first answers were found; None where there was nothing to replay."""
    pilot_times: PilotTimes | None = None
    split_batches: int = 0
    """Batches that were answered in parts, since they did not fit in memory."""
    unreplayed_batches: int = 0
    """Batches to be replayed that were decoded plainly, in whole or in part, since replay did not fit in memory."""
    prompt_tokens: int
    generated_tokens: int
    peak_memory_bytes: int | None
    environment: Environment
    n_cases: int
    n_answered: int
    suite_passed: dict[Name, tuple[int, int]]
    """Per suite: cases passed, cases graded (own figures, not over the pairs)."""
    sampled: dict[Name, tuple[PassAtK, ...]] = Field(default_factory=dict)
    """Per suite, and `all` for all of them, by rising k; empty where decoding was greedy."""


class ChangedCase(Strict):
    """A case whose answer is not the baseline's, both texts side by side."""

    candidate: Name
    suite: Name
    case: Name
    tags: dict[Name, PersonText]
    kind: ChangeKind
    question: ModelText
    expected: ModelText
    baseline_text: ModelText
    candidate_text: ModelText
    baseline_fault: ModelText
    """Classes and reasons of the failed grades, or the class of having no answer."""
    candidate_fault: ModelText
    unstable: bool = False
    """Baseline or candidate also flipped this case against itself."""
    divergence: Divergence | None = None
    """Where the candidate first prefers another token along the baseline's answer; None where it nowhere does, or
    where no fidelity was measured."""


class CandidateResult(Strict):
    """Everything about one candidate: its decision, why, and the verdicts behind it."""

    candidate: Name
    required: bool
    """Whether the run's decision depends on it."""
    decision: DecisionRuling
    reasons: tuple[Composed, ...]
    comparability: Comparability
    verdicts: tuple[Verdict, ...]
    limits: tuple[LimitResult, ...] = ()
    fidelity: CandidateFidelity | None = None
    """None where none was measured, or where it is not of this baseline's answers: the notes say why."""
    identical: bool = False
    """Equal to the baseline in every token: said aloud, with likely causes."""
    notes: tuple[Composed, ...] = ()
    confidence: Share | None = None
    """Of its intervals, 1 - 2 alpha; where it is not the policy's a note says why."""
    unpaired: tuple[Name, ...] = ()
    """Case ids that only one of the two records holds."""


class Report(Strict):
    """What a comparison says: rendered by `qeval.reporting`, stored as `verdict.json`."""

    schema_version: int = 1
    created_at: Own
    qeval_version: Own
    model: Name
    model_fingerprint: Own
    baseline: Name
    decision: DecisionRuling
    exit_code: int
    picked: Name | None = None
    """Where the policy takes the best candidate: the accepted one whose weights are smallest."""
    variants: tuple[VariantSummary, ...]
    """The baseline first."""
    candidates: tuple[CandidateResult, ...]
    changed: tuple[ChangedCase, ...]
    suites: dict[Name, SuiteInfo]
    policy: Annotated[dict[str, Any], TextKind.POLICY]
    policy_digest: Own
    independence: Independence | None = None
    """How much independent evidence the cases are; None in reports of older versions."""
    warnings: tuple[Composed, ...] = ()
