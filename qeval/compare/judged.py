"""Whether two records' judge grades compare, and what the judge did: it is itself a model, and must be the same one."""

from __future__ import annotations

from collections.abc import Iterable

from qeval.compare.pairs import Pair
from qeval.grading.judge import METRIC, judge_grades, tally
from qeval.record import JudgeInfo, Record, RecordHeader

_MUST_BE_EQUAL = ("model", "prompt", "temperature", "seed", "max_tokens")


def judge_difference(ours: RecordHeader, theirs: RecordHeader) -> str | None:
    """Return why the two records' judge grades do not compare; None where they do, or neither was judged."""
    one, other = ours.judge, theirs.judge
    if one is None or other is None:
        if one is other:
            return None
        return f"judge: {_named(one)} in the baseline, {_named(other)} in the candidate"
    for field in _MUST_BE_EQUAL:
        before, after = getattr(one, field), getattr(other, field)
        if before != after:
            return f"judge ({field}): {_short(before)} in the baseline, {_short(after)} in the candidate"
    # A record whose answers were all empty has had no reply, and so no name.
    served = {one.served, other.served} - {()}
    if len(served) > 1 or any(len(names) > 1 for names in served):
        shown = [", ".join(names) or "none" for names in (one.served, other.served)]
        return f"judge: the endpoint served {shown[0]} for the baseline, {shown[1]} for the candidate"
    return None


def judge_decides(pairs: Iterable[Pair]) -> bool:
    """Return whether `pass` of any case depends on a judge, so that a difference of judges reaches it."""
    arms = (arm.outcome for pair in pairs for arm in (pair.baseline, pair.candidate))
    return any(grade.metric == METRIC and grade.required for outcome in arms if outcome for grade in outcome.grades)


def judge_notes(record: Record) -> Iterable[str]:
    """Say of a record with rubrics who judged it, how many grades there are, and what they cost."""
    grades = judge_grades(record.outcomes)
    info, cost = record.header.judge, record.header.measurements.judge
    if grades:
        by = "off" if info is None else f"{info.model}, {info.endpoint}, prompt {info.prompt[:12]}"
        told = f"; {cost.requests} requests, {cost.prompt_tokens + cost.answer_tokens} tokens" if cost else ""
        yield f"judge of {record.header.variant} ({by}): {tally(grades)}{told}"


def _named(info: JudgeInfo | None) -> str:
    return "none" if info is None else info.model


def _short(value: object) -> str:
    # Only digests are longer.
    return str(value)[:40]
