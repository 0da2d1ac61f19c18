"""The cases whose answer is not the baseline's, for people to read side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from qeval.compare.fidelity_result import Divergence
from qeval.compare.noise import OwnChanges
from qeval.compare.pairs import Arm, CaseKey, Pair
from qeval.compare.report import ChangedCase, ChangeKind
from qeval.outcome import Outcome


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
    before, after = _texts(pair)
    return ChangedCase(
        candidate=candidate,
        suite=pair.info.suite,
        case=pair.info.case,
        tags=pair.info.tags,
        kind=kind,
        question=pair.info.question,
        expected=pair.info.expected,
        baseline_text=before,
        candidate_text=after,
        baseline_fault=_fault(pair.baseline),
        candidate_fault=_fault(pair.candidate),
        unstable=any(key in arm and arm[key].flipped for arm in seen.own),
        divergence=seen.divergences.get(key),
    )


def _texts(pair: Pair) -> tuple[str, str]:
    """Return both answers as people read them; where these are alike and what was said is not, all that was said."""
    arms = (pair.baseline.outcome, pair.candidate.outcome)
    before, after = (_with_calls(outcome, _seen(outcome)) if outcome else "" for outcome in arms)
    if before == after:
        before, after = (_with_calls(outcome, outcome.text) if outcome else "" for outcome in arms)
    return before, after


def _seen(outcome: Outcome) -> str:
    """Return the visible answer, or the thought of a model that never came to one."""
    visible = outcome.visible
    return visible if visible.strip() or outcome.thought is None else f"(thought, no answer) {outcome.thought}"


def _with_calls(outcome: Outcome, text: str) -> str:
    calls = [f"{call.name}({call.arguments})" for call in outcome.tool_calls or ()]
    return "\n".join([text, *calls] if text or not calls else calls)


def _fault(arm: Arm) -> str:
    if arm.no_answer is not None:
        detail = arm.outcome.detail if arm.outcome else ""
        return f"{arm.no_answer}: {detail}" if detail else arm.no_answer
    grades = arm.outcome.grades if arm.outcome else ()
    faulty = [grade for grade in grades if grade.status != "pass"]
    return "; ".join(": ".join(part for part in (g.metric, g.fault, g.reason) if part) for g in faulty)
