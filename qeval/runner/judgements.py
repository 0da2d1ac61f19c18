"""What the judge was asked and replied: a line of `judgements.jsonl` each, beside a record's outcomes."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from pathlib import Path

from qeval.record import JUDGEMENTS_FILE, JudgeCost, read_file, schema_of
from qeval.strict import Strict


class Judgement(Strict):
    """One request to the judge and what came back."""

    suite: str
    case: str
    repeat: int
    request: str
    """sha256 over the whole request: judge, prompt, settings, case and answer."""
    fault: str | None
    """The class of having no reply."""
    detail: str
    reply: str
    """The judge's own words."""
    served: str | None
    attempts: int
    """0: taken from an equal request."""
    latency_s: float | None
    prompt_tokens: int | None
    answer_tokens: int | None


def load_judgements(record: Path) -> list[Judgement]:
    """Read what a record's judge was asked, without a torn last line; nothing where there was no judge."""
    return list(read_file(record / JUDGEMENTS_FILE, Judgement, schema_of(record)))


def cost_of(judgements: Sequence[Judgement]) -> JudgeCost:
    """Add up what the requests took; what was taken from an equal request took nothing."""
    asked = [one for one in judgements if one.attempts]
    latencies = [one.latency_s for one in asked if one.latency_s is not None]
    return JudgeCost(
        requests=len(asked),
        median_latency_s=statistics.median(latencies) if latencies else None,
        prompt_tokens=sum(one.prompt_tokens or 0 for one in asked),
        answer_tokens=sum(one.answer_tokens or 0 for one in asked),
        uncounted=sum(one.prompt_tokens is None or one.answer_tokens is None for one in asked),
    )
