"""One row for each thing planted: what was measured, what the gate said, and whether that is as it should be."""

from __future__ import annotations

from collections.abc import Iterable

from qeval.compare.power import cases_to_detect
from qeval.compare.report import CandidateResult, DecisionRuling, Report, SliceKey, Verdict
from qeval.reporting.view import DECISION_WORDS
from qeval.selftest.planted import IDENTICAL, Planted
from qeval.strict import Strict
from qeval.units import p_value, points


class Row(Strict):
    """What became of one thing planted."""

    candidate: str
    planted: str
    n: int
    """Pairs in which both answered; 0 where nothing could be compared."""
    difference: float | None
    """Measured: pass rate minus the baseline's."""
    decision: DecisionRuling
    why: str
    stopped_at: int | None
    """Cases after which a run could have ended (`qeval.selftest.stopping`); None: not early."""
    expected: tuple[DecisionRuling, ...]
    as_it_should_be: bool


def make_row(planted: Planted, report: Report, stopped_at: int | None, alpha: float) -> Row:
    """Return the row of one candidate.

    Args:
        planted: what was planted, and what must come of it.
        report: the comparison that its candidate is part of.
        stopped_at: cases after which a run could have ended.
        alpha: the policy's, for the number of cases that an open row would need.
    """
    result = next(one for one in report.candidates if one.candidate == planted.name)
    pool = next((v for v in result.verdicts if v.slice == SliceKey() and v.metric == "pass"), None)
    found = [note for one in report.variants if one.variant == planted.name for note in one.notes]
    named = next((note for note in found if planted.says and planted.says in note), None)
    said = named is not None or any(planted.says in text for text in _texts(result))
    return Row(
        candidate=planted.name,
        planted=planted.what,
        n=pool.n if pool else 0,
        difference=pool.difference if pool else None,
        decision=result.decision,
        why=named or _why(result, pool, alpha),
        stopped_at=stopped_at,
        expected=planted.allowed,
        as_it_should_be=result.decision in planted.allowed and said,
    )


def expected_text(row: Row) -> str:
    """Say in words what the row should be."""
    if len(row.expected) > 2:
        return "anything but accepted"
    return " or ".join(DECISION_WORDS[decision] for decision in row.expected)


def _texts(result: CandidateResult) -> Iterable[str]:
    yield from (*result.reasons, *result.notes)
    for verdict in result.verdicts:
        yield from verdict.unanswered


def _why(result: CandidateResult, pool: Verdict | None, alpha: float) -> str:
    """Say in few words what the decision stands on."""
    unanswered = dict(pool.unanswered) if pool else {}
    if unanswered:
        return "; ".join(f"{count} cases: {name}" for name, count in unanswered.items())
    if result.decision == "accepted" and result.identical:
        return IDENTICAL
    if pool is None or pool.difference is None or result.decision not in {"regressed", "inconclusive", "accepted"}:
        return result.reasons[0]
    shown = f"interval {points(pool.low)} to {points(pool.high)}, p for harm {p_value(pool.p_harm)}"
    return f"{shown}{_needed(pool, alpha)}" if result.decision == "inconclusive" else shown


def _needed(pool: Verdict, alpha: float) -> str:
    """Say how many cases would show a loss of the size seen, at the flip rate seen."""
    if pool.difference is None or pool.difference >= 0:
        return ""
    needed = cases_to_detect((pool.losses + pool.gains) / pool.n, pool.difference, alpha)
    return f"; a loss of this size takes about {needed} cases to prove"
