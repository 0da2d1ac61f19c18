"""The cases whose answer is not the baseline's, for people to read side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from qeval.compare.fidelity_result import Divergence
from qeval.compare.noise import OwnChanges
from qeval.compare.pairs import Arm, CaseKey, Pair
from qeval.compare.report import ChangedCase, ChangeKind


class Seen(NamedTuple):
    """What is known of a case besides its answers."""

    own: OwnChanges
    divergences: Mapping[CaseKey, Divergence]
    """Where each case first diverges, of those that do."""


def changed_cases(candidate: str, pairs: Sequence[Pair], seen: Seen) -> tuple[ChangedCase, ...]:
    """Return the changed cases of one candidate, in the order of the baseline's cases."""
    return tuple(_case(candidate, pair, kind, seen) for pair in pairs for kind in [_kind(pair)] if kind is not None)


def _kind(pair: Pair) -> ChangeKind | None:
    if (pair.baseline.no_answer is None) != (pair.candidate.no_answer is None):
        return "no_answer"
    before, after = pair.baseline.passed("pass"), pair.candidate.passed("pass")
    if before is not None and after is not None and before != after:
        return "right_to_wrong" if before else "wrong_to_right"
    if not pair.text_changed:
        return None
    return "wrong_to_other_wrong" if before is False and after is False else "text_changed"


def _case(candidate: str, pair: Pair, kind: ChangeKind, seen: Seen) -> ChangedCase:
    key = (pair.info.suite, pair.info.case)
    return ChangedCase(
        candidate=candidate,
        suite=pair.info.suite,
        case=pair.info.case,
        tags=pair.info.tags,
        kind=kind,
        question=pair.info.question,
        expected=pair.info.expected,
        baseline_text=_text(pair.baseline),
        candidate_text=_text(pair.candidate),
        baseline_fault=_fault(pair.baseline),
        candidate_fault=_fault(pair.candidate),
        unstable=any(key in arm and arm[key].flipped for arm in seen.own),
        divergence=seen.divergences.get(key),
    )


def _text(arm: Arm) -> str:
    if arm.outcome is None:
        return ""
    calls = [f"{call.name}({call.arguments})" for call in arm.outcome.tool_calls or ()]
    return "\n".join([arm.outcome.text, *calls] if arm.outcome.text or not calls else calls)


def _fault(arm: Arm) -> str:
    if arm.no_answer is not None:
        detail = arm.outcome.detail if arm.outcome else ""
        return f"{arm.no_answer}: {detail}" if detail else arm.no_answer
    grades = arm.outcome.grades if arm.outcome else ()
    faulty = [grade for grade in grades if grade.status != "pass"]
    return "; ".join(": ".join(part for part in (g.metric, g.fault, g.reason) if part) for g in faulty)
