"""The decision on a candidate and on a run, with its exit code.

Worst first: interrupted 130, bad usage 2, not comparable 4, incomplete 5, regressed 1, inconclusive 3, accepted 0.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from qeval.compare.report import CandidateResult, DecisionRuling, LimitResult, Ruling, Verdict
from qeval.errors import ExitCode
from qeval.record import RecordHeader

WORST_FIRST: tuple[ExitCode, ...] = (
    ExitCode.INTERRUPTED,
    ExitCode.USAGE,
    ExitCode.NOT_COMPARABLE,
    ExitCode.INCOMPLETE,
    ExitCode.REGRESSED,
    ExitCode.INCONCLUSIVE,
    ExitCode.ACCEPTED,
)
EXIT_CODES: dict[DecisionRuling, ExitCode] = {
    "accepted": ExitCode.ACCEPTED,
    "regressed": ExitCode.REGRESSED,
    "inconclusive": ExitCode.INCONCLUSIVE,
    "not_comparable": ExitCode.NOT_COMPARABLE,
    "incomplete": ExitCode.INCOMPLETE,
}


class Decision(NamedTuple):
    """What was decided, and every reason for it."""

    ruling: DecisionRuling
    reasons: tuple[str, ...]


def worst_code(codes: Iterable[ExitCode]) -> ExitCode:
    """Return the worst exit code.

    >>> worst_code([ExitCode.INCONCLUSIVE, ExitCode.REGRESSED, ExitCode.ACCEPTED]).name
    'REGRESSED'
    """
    return min(codes, key=WORST_FIRST.index)


def worst(decisions: Iterable[DecisionRuling]) -> DecisionRuling:
    """Return the worst decision, in the order of their exit codes."""
    return min(decisions, key=lambda decision: WORST_FIRST.index(EXIT_CODES[decision]))


class Pick(NamedTuple):
    """The decision of a run in which one accepted candidate is enough."""

    ruling: DecisionRuling
    candidate: str | None
    """The one to take, None where none is accepted."""


def pick(results: Sequence[CandidateResult], headers: Sequence[RecordHeader]) -> Pick:
    """Take the accepted candidate whose weights are smallest; among equals, and where unknown, the first named.

    Where none is accepted, the run is regressed if all are; else the worst of those that may still be accepted.
    """
    accepted = [result.candidate for result in results if result.decision == "accepted"]
    if accepted:
        return Pick("accepted", min(accepted, key=lambda name: _stored_bytes(name, headers)))
    return Pick(worst([r.decision for r in results if r.decision != "regressed"] or ["regressed"]), None)


def _stored_bytes(variant: str, headers: Sequence[RecordHeader]) -> float:
    """Return what a variant's weights take, more than anything where that is not known."""
    proof = next((header.proof for header in headers if header.variant == variant), None)
    return math.inf if proof is None or proof.storage_bytes is None else proof.storage_bytes


def decide(
    *,
    faults: Sequence[str],
    missing: Sequence[str],
    verdicts: Sequence[Verdict],
    limits: Sequence[LimitResult],
    broken: int = 0,
    numeric_errors: int,
) -> Decision:
    """Decide on one candidate; accepted is what is left when nothing speaks against it.

    Args:
        faults: what forbids the comparison.
        missing: required data that is not there.
        verdicts: all verdicts; those that gate are of level critical and not exploratory.
        limits: all limits; a broken `min_scored` is missing data, any other a regression, unless it is advisory.
        broken: cases in which the candidate had NaN or infinite logits and the baseline had not. One is harm that no
            missing data can undo.
        numeric_errors: such cases of the candidate in all.
    """
    gating = [verdict for verdict in verdicts if verdict.gates]
    failed = [limit for limit in limits if limit.broken and limit.level == "critical"]
    unscored = [_limit(limit) for limit in failed if limit.name == "min_scored"]
    exceeded = [_limit(limit) for limit in failed if limit.name != "min_scored"]
    by_ruling: list[tuple[DecisionRuling, list[str]]] = [
        ("not_comparable", list(faults)),
        ("regressed", _broken(broken)),
        ("incomplete", [*missing, *unscored, *_no_data(gating)]),
        ("regressed", [*_reasons(gating, "regressed"), *exceeded]),
        ("inconclusive", [*_numeric(numeric_errors), *_doubts(gating)]),
    ]
    for ruling, reasons in by_ruling:
        if reasons:
            return Decision(ruling, tuple(dict.fromkeys(reasons)))
    if not gating:
        return Decision("incomplete", ("nothing was judged",))
    return Decision("accepted", ("no loss beyond the margin, in the pool and in every critical slice",))


def _limit(limit: LimitResult) -> str:
    return f"hard limit in {limit.slice.label}: {limit.text}"


def _no_data(gating: Sequence[Verdict]) -> list[str]:
    # A slice that a run was ended before is not missing.
    empty = [verdict for verdict in gating if verdict.n == 0 and "ended_early" not in verdict.flags]
    return [f"{verdict.slice.label}: {verdict.reason}" for verdict in empty]


def _reasons(gating: Sequence[Verdict], ruling: Ruling) -> list[str]:
    return [f"{verdict.slice.label}: {verdict.reason}" for verdict in gating if verdict.ruling == ruling]


def _broken(count: int) -> list[str]:
    cases = f"{count} case{'s' * (count != 1)}"
    return [f"broken: NaN in {cases} (NaN or infinite logits, where the baseline has none)"] if count else []


def _numeric(count: int) -> list[str]:
    if not count:
        return []
    return [f"NaN or infinite logits in {count} cases, as in the baseline; such a candidate is never accepted"]


def _doubts(gating: Sequence[Verdict]) -> list[str]:
    # A proven gain does not lift the floor: where the baseline hardly passes, no loss could have been seen.
    floored = [v for v in gating if "baseline_floor" in v.flags and v.ruling == "improved"]
    return [
        *_reasons(gating, "inconclusive"),
        *(f"{v.slice.label}: the baseline passes under 20 % here, so few pairs could show a loss" for v in floored),
    ]
