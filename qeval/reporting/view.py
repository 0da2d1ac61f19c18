"""What every report shows, and in which words: the choices that terminal, Markdown, HTML and JUnit share."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from qeval.compare.report import (
    CandidateResult,
    ChangedCase,
    ChangeKind,
    DecisionRuling,
    PassAtK,
    Report,
    Ruling,
    VariantSummary,
    Verdict,
)
from qeval.record import State
from qeval.units import percent

DECISION_WORDS: dict[DecisionRuling, str] = {
    "accepted": "accepted",
    "regressed": "regressed",
    "inconclusive": "inconclusive",
    "not_comparable": "not comparable",
    "incomplete": "incomplete",
}
DECISION_MEANING: dict[DecisionRuling, str] = {
    "accepted": "A loss beyond the margins is excluded, and every hard limit holds.",
    "regressed": "A loss is proven and may exceed the margin, or a hard limit is broken.",
    "inconclusive": "Neither a loss nor its absence is proven with these cases.",
    "not_comparable": "The two records differ in what must be equal before a difference means anything.",
    "incomplete": "Data that the policy requires is missing.",
}
KIND_WORDS: dict[ChangeKind, str] = {
    "right_to_wrong": "right → wrong",
    "wrong_to_right": "wrong → right",
    "wrong_to_other_wrong": "wrong → other wrong",
    "text_changed": "text changed, same grade",
    "no_answer": "no answer",
}
STATE_WORDS: dict[State, str] = {
    "running": "not finished",
    "complete": "complete",
    "crashed": "crashed",
    "out_of_memory": "out of memory",
    "timeout": "timed out",
    "unsupported": "unsupported",
    "interrupted": "interrupted",
}
FLAG_WORDS: dict[str, str] = {
    "too_few": "too few cases",
    "baseline_floor": "baseline rarely passes",
    "two_sided": "gains bounded too",
    "small_real_loss": "small real loss",
    "few_clusters": "too few clusters",
    "no_data": "no data",
    "unanswered_decides": "missing answers decide",
    "within_noise": "within the noise",
    "margin_in_noise": "margin inside the noise",
    "ended_early": "ended early",
}
_WORST_FIRST: tuple[ChangeKind, ...] = (
    "right_to_wrong",
    "no_answer",
    "wrong_to_right",
    "wrong_to_other_wrong",
    "text_changed",
)
_RULING_ORDER: tuple[Ruling, ...] = ("regressed", "inconclusive", "equivalent", "improved")


def verdict_label(verdict: Verdict) -> str:
    """Name a verdict's slice, and its metric where that is not `pass`."""
    return verdict.slice.label if verdict.metric == "pass" else f"{verdict.slice.label} ({verdict.metric})"


def headline(candidate: CandidateResult) -> list[Verdict]:
    """Return the verdicts over the pool and over whole suites, the pool first."""
    return sorted((v for v in candidate.verdicts if v.role in {"pool", "suite"}), key=lambda v: v.role != "pool")


def pool(candidate: CandidateResult) -> Verdict | None:
    """Return the verdict on `pass` over all suites, None where nothing was paired."""
    return next((v for v in candidate.verdicts if v.role == "pool" and v.metric == "pass"), None)


def notable_slices(candidate: CandidateResult) -> list[Verdict]:
    """Return the slices that regressed, and the required ones that are open; the worst first, as `ranking` says."""
    chosen = [
        v
        for v in candidate.verdicts
        if v.role in {"required", "exploratory"}
        and (v.ruling == "regressed" or (v.role == "required" and v.ruling == "inconclusive"))
    ]
    return sorted(chosen, key=lambda v: (_RULING_ORDER.index(v.ruling), ranking(v)))


def ranking(verdict: Verdict) -> float:
    """Return what slices are ranked by, the worst lowest: the shrunken difference, else the one seen.

    By the difference alone, rankings chase the smallest slices.
    """
    shown = verdict.difference if verdict.shrunken is None else verdict.shrunken
    return math.inf if shown is None else shown


def ended_early(candidate: CandidateResult) -> bool:
    """Return whether what was seen ended the candidate's run before all cases were answered."""
    return any("ended_early" in verdict.flags for verdict in candidate.verdicts)


def worst_first(report: Report) -> list[ChangedCase]:
    """Order changed cases for a reader: losses, then no answers, then gains; unstable ones after stable ones.

    Among equals, suites that regressed come first, and candidates and suites take turns, so that the first few show
    more than one suite.
    """
    lost = {(c.candidate, v.slice.suite) for c in report.candidates for v in headline(c) if v.ruling == "regressed"}
    turns: Counter[tuple[str, str, str, bool]] = Counter()

    def key(case: ChangedCase) -> tuple[int, bool, bool, int]:
        group = (case.candidate, case.suite, case.kind, case.unstable)
        turns[group] += 1
        spared = (case.candidate, case.suite) not in lost
        return _WORST_FIRST.index(case.kind), case.unstable, spared, turns[group]

    return sorted(report.changed, key=key)


def interval_name(report: Report) -> str:
    """Name the interval by its confidence, such as `90 % interval`; not where candidates differ: their notes say it."""
    known = {candidate.confidence for candidate in report.candidates if candidate.confidence is not None}
    return f"{percent(known.pop(), 0)} interval" if len(known) == 1 else "interval"


def answered_text(variant: VariantSummary) -> str:
    """Format the state of a variant, with the answered cases where some are missing."""
    state = STATE_WORDS[variant.state]
    if variant.n_answered == variant.n_cases and variant.state == "complete":
        return state
    return f"{state}, {variant.n_answered} of {variant.n_cases} answered"


def reason_text(candidate: CandidateResult, most: int = 2) -> str:
    """Join the first reasons of a decision to one line, count the others, and say how the suites were ruled."""
    reasons = [reason.rstrip(".") for reason in candidate.reasons]
    if len(reasons) > most + 1:
        reasons = [*reasons[:most], f"and {len(reasons) - most} more reasons"]
    suites = suites_text(candidate)
    said = "; ".join(reasons) or DECISION_MEANING[candidate.decision].rstrip(".")
    return f"{said}. {suites}" if suites else said


def suites_text(candidate: CandidateResult) -> str:
    """Count the suites by ruling: `Suites: 3 equivalent, 2 inconclusive of 5`; empty under two suites."""
    rulings = Counter(verdict.ruling for verdict in candidate.verdicts if verdict.role == "suite")
    if rulings.total() < 2:
        return ""
    return f"Suites: {', '.join(f'{rulings[r]} {r}' for r in _RULING_ORDER if rulings[r])} of {rulings.total()}"


class SampledRow(NamedTuple):
    """How sampled answers of one variant pass in one suite."""

    variant: str
    suite: str
    at: PassAtK


def sampled(report: Report) -> list[SampledRow]:
    """List pass@k and pass^k of every variant that sampled its answers, `all` suites first."""
    return [
        SampledRow(variant.variant, suite, at)
        for variant in report.variants
        for suite, found in sorted(variant.sampled.items(), key=lambda item: item[0] != "all")
        for at in found
    ]


class DecisionGroup(NamedTuple):
    """The candidates that share a decision."""

    decision: DecisionRuling
    candidates: tuple[str, ...]


def remarks(candidate: CandidateResult, most: int) -> list[str]:
    """Return cautions and notes on a candidate, at most so many and a count of the others."""
    said = [*candidate.comparability.cautions, *candidate.notes]
    return said if len(said) <= most + 1 else [*said[:most], f"{len(said) - most} more notes are in the report"]


def by_decision(candidates: Iterable[CandidateResult]) -> list[DecisionGroup]:
    """Group candidates by decision, the worst decision first."""
    order: tuple[DecisionRuling, ...] = ("incomplete", "not_comparable", "regressed", "inconclusive", "accepted")
    listed = list(candidates)
    groups = [DecisionGroup(d, tuple(c.candidate for c in listed if c.decision == d)) for d in order]
    return [group for group in groups if group.candidates]


def picked_text(report: Report) -> str:
    """Say why the picked candidate was picked: `smallest of 2 accepted`; empty where none was."""
    if report.picked is None:
        return ""
    accepted = sum(candidate.decision == "accepted" for candidate in report.candidates)
    return f"smallest of {accepted} accepted" if accepted > 1 else "the only one accepted"


def run_line(report: Report) -> str:
    """Say the run's decision and who is where: `REGRESSED (regressed: nf4; accepted: bf16, int8)`.

    Where one of the candidates was picked: `ACCEPTED, taking nf4 (smallest of 2 accepted; accepted: nf4, bf16)`.
    """
    groups = [f"{DECISION_WORDS[g.decision]}: {', '.join(g.candidates)}" for g in by_decision(report.candidates)]
    taken = f", taking {report.picked}" if report.picked else ""
    said = [picked_text(report)] if report.picked else []
    return f"{DECISION_WORDS[report.decision].upper()}{taken} ({'; '.join([*said, *groups]) or 'no candidates'})"
