"""What may leave for a tracking store: everything, or hashes and grades without a word of prompt or answer."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from typing import Any, Literal

from qeval.compare.fidelity_result import Divergence
from qeval.compare.report import ChangedCase, Report, VariantSummary
from qeval.jsonl import dumps
from qeval.outcome import Grade, Outcome
from qeval.record import CaseInfo, Record, RecordHeader

Privacy = Literal["hashes", "full"]

HASHED_COLUMNS = (
    "suite",
    "case",
    "repeat",
    "tags",
    "cluster",
    "status",
    "failure",
    "pass",
    "grades",
    "prompt_hash",
    "prompt_tokens",
    "answer_tokens",
    "answer_characters",
    "answer_sha256",
)
TEXT_COLUMNS = ("tenant", "question", "expected", "answer", "reasons")


def digest(text: str) -> str:
    """Return a text's sha256; lone surrogates count as they are."""
    return hashlib.sha256(text.encode("utf-8", errors="surrogatepass")).hexdigest()


def redact_report(report: Report) -> Report:
    """Return the report with every text that a model read or printed replaced by its hash and length.

    Ids, tags, kinds of change, grades and figures stay.
    """
    return report.model_copy(
        update={
            "changed": tuple(map(_redact_case, report.changed)),
            "variants": tuple(map(_redact_variant, report.variants)),
        }
    )


def _redact_case(case: ChangedCase) -> ChangedCase:
    texts = ("question", "expected", "baseline_text", "candidate_text")
    return case.model_copy(
        update={name: _hashed(getattr(case, name)) for name in texts}
        | {name: _classes(getattr(case, name)) for name in ("baseline_fault", "candidate_fault")}
        | {"divergence": case.divergence and _redact_divergence(case.divergence)}
    )


def _redact_divergence(divergence: Divergence) -> Divergence:
    texts = ("baseline_token", "candidate_token")
    return divergence.model_copy(update={name: _hashed(getattr(divergence, name)) for name in texts})


def _hashed(text: str) -> str:
    return f"sha256 {digest(text)}, {len(text)} characters" if text else ""


def _classes(fault: str) -> str:
    """Keep the first word of a fault: a grader's name or a class; what follows may quote the answer."""
    word = re.match(r"\w+", fault, re.ASCII)
    return word[0] if word else ("failed" if fault else "")


def _redact_variant(variant: VariantSummary) -> VariantSummary:
    # An exception's message may quote a prompt.
    return variant.model_copy(update={"state_detail": ""})


def redact_header(header: RecordHeader) -> RecordHeader:
    """Return the header without messages that may quote a prompt."""
    return header.model_copy(update={"state_detail": ""})


def case_table(record: Record, privacy: Privacy) -> str:
    """Return all outcomes of a record as a table in the JSON form that MLflow shows: columns and rows."""
    infos = {(info.suite, info.case): info for info in record.cases}
    rows = [_row(outcome, infos.get((outcome.suite, outcome.case)), privacy) for outcome in record.outcomes]
    columns = [*HASHED_COLUMNS, *(TEXT_COLUMNS if privacy == "full" else ())]
    return dumps({"columns": columns, "data": rows})


def _row(outcome: Outcome, info: CaseInfo | None, privacy: Privacy) -> list[Any]:
    hashed = [
        outcome.suite,
        outcome.case,
        outcome.repeat,
        dumps(info.tags) if info else "{}",
        info.cluster if info else "",
        outcome.status,
        outcome.failure or "",
        outcome.passed(),
        _grades(outcome.grades),
        outcome.prompt_hash or "",
        outcome.prompt_tokens,
        len(outcome.token_ids),
        len(outcome.text),
        digest(outcome.text),
    ]
    if privacy == "hashes":
        return hashed
    reasons = "; ".join(filter(None, [outcome.detail, *(grade.reason for grade in outcome.grades)]))
    known = [info.tenant or "", info.question, info.expected] if info else ["", "", ""]
    return [*hashed, *known, outcome.visible, reasons]


def _grades(grades: Iterable[Grade]) -> str:
    return ", ".join(f"{g.metric}={g.status}" + (f" ({g.fault})" if g.fault else "") for g in grades)
