"""What may leave for a tracking store: everything, or hashes and grades without a word of prompt or answer.

Under `hashes` the report that leaves is computed anew from records and a policy in which every such text is replaced by
its hash. So a sentence in it cannot quote what is not in them, whatever sentences reports come to hold.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any, Literal

from pydantic import ValidationError

from qeval.compare.build import build_report
from qeval.compare.policy import Policy
from qeval.compare.report import Report
from qeval.compare.slices import change_name, change_value
from qeval.errors import QevalError
from qeval.jsonl import dumps
from qeval.outcome import Grade, Outcome
from qeval.record import CaseInfo, Record
from qeval.text_kinds import TextKind, rewrite

Privacy = Literal["hashes", "full"]

WITHHELD = "withheld, since it may quote a case: see the report in the run's folder"
_IN_FOLDER = "its reason is in the run's folder"
_LOCAL_PATH = ("/", "~", "./", "../")
_SHORT_HASH = 12
"""Hexadecimal digits that stand for a tag's value or a cluster."""
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


def redact_record(record: Record) -> Record:
    """Return a record in which hashes stand for all that a model read or printed and for what was written of cases.

    Equal texts have equal hashes, so that it compares as the record does. Names, digests, classes and figures stay.
    """
    return Record(
        rewrite(record.header, _hashed),
        tuple(rewrite(info, _hashed) for info in record.cases),
        tuple(rewrite(outcome, _hashed) for outcome in record.outcomes),
        tuple(rewrite(scored, _hashed) for scored in record.scored),
    )


def redact_report(report: Report, records: Mapping[str, Record | None]) -> Report:
    """Return the report that redacted records give.

    Args:
        report: as it was made.
        records: redacted ones by variant, None where there is none.

    Returns:
        The report made anew, where it comes to the same; else, as where records are missing, the given one without any
        sentence.
    """
    made = _made_anew(report, records)
    if made is None or _outcome_of(made) != _outcome_of(report):
        return rewrite(report, lambda kind, value: WITHHELD if kind is TextKind.COMPOSED else _hashed(kind, value))
    return made.model_copy(update={"created_at": report.created_at, "qeval_version": report.qeval_version})


def _made_anew(report: Report, records: Mapping[str, Record | None]) -> Report | None:
    baseline = records.get(report.baseline)
    if baseline is None:
        return None
    summed_up = {variant.variant for variant in report.variants}
    held = [records.get(candidate.candidate) for candidate in report.candidates]
    if any(record is None for name, record in records.items() if name in summed_up):
        return None
    missing = {c.candidate: _IN_FOLDER for c, record in zip(report.candidates, held, strict=True) if record is None}
    policy = rewrite(Policy.model_validate(report.policy), _hashed)
    candidates = [record for record in held if record is not None]
    try:
        return build_report(baseline, candidates, policy, created_at=report.created_at, missing=missing).model_copy(
            update={"policy_digest": report.policy_digest}
        )
    except (QevalError, ValueError):
        # Records and report do not belong together, or the policy is of another version of qeval.
        return None


def _outcome_of(report: Report) -> tuple[object, ...]:
    """Return what a report comes to, without a text that is hashed."""
    return (
        report.decision,
        report.exit_code,
        report.picked,
        [
            (c.candidate, c.decision, c.identical, c.comparability.level, len(c.reasons), _rulings(c.verdicts))
            for c in report.candidates
        ],
        [(case.candidate, case.suite, case.case, case.kind) for case in report.changed],
    )


def _rulings(verdicts: Iterable[Any]) -> list[tuple[Any, ...]]:
    # Slices are listed by their values, so that hashes have another order.
    return sorted((v.metric, v.role, v.level, v.ruling, v.n, v.losses, v.gains, v.changed_text) for v in verdicts)


def _hashed(kind: TextKind, value: Any) -> Any:  # noqa: ANN401 - a text, or an object of texts
    if not value:
        return value
    if kind is TextKind.MODEL:
        return _long_hash(value) if isinstance(value, str) else {"sha256": digest(dumps(value))}
    if kind is TextKind.NAME and value.startswith(_LOCAL_PATH):
        # A model in a folder: the path to it may hold a person's name.
        return value.rstrip("/").rpartition("/")[2]
    if kind is TextKind.PERSON:
        return _short_hash(value)
    if kind is TextKind.SLICE:
        return change_name(value, _short_hash)
    if kind is TextKind.VALUES:
        return change_value(value, _short_hash)
    if kind is TextKind.POLICY:
        return _hashed_policy(value)
    return value


def _hashed_policy(policy: Mapping[str, Any]) -> dict[str, Any]:
    try:
        return rewrite(Policy.model_validate(policy), _hashed).model_dump(mode="json")
    except ValidationError:
        # Of another version of qeval: nobody knows what its texts hold.
        return {"sha256": digest(dumps(policy))}


def _long_hash(text: str) -> str:
    return f"sha256 {digest(text)}, {len(text)} characters"


def _short_hash(text: str) -> str:
    return f"sha256:{digest(text)[:_SHORT_HASH]}"


def case_table(record: Record, redacted: Record | None) -> str:
    """Return all outcomes of a record as a table in the JSON form that MLflow shows: columns and rows.

    Args:
        record: as it is; of its texts only lengths and hashes are taken where there is a redacted one.
        redacted: what may leave; None: everything may, and the table has columns for the texts.
    """
    shown = redacted or record
    infos = {(info.suite, info.case): info for info in shown.cases}
    columns, rows = list(HASHED_COLUMNS), []
    for outcome, true in zip(shown.outcomes, record.outcomes, strict=True):
        info = infos.get((outcome.suite, outcome.case))
        texts = [] if redacted else _text_cells(outcome, info)
        rows.append([*_hashed_cells(outcome, true, info), *texts])
    return dumps({"columns": columns if redacted else [*columns, *TEXT_COLUMNS], "data": rows})


def _hashed_cells(outcome: Outcome, true: Outcome, info: CaseInfo | None) -> list[Any]:
    return [
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
        len(true.text),
        digest(true.text),
    ]


def _text_cells(outcome: Outcome, info: CaseInfo | None) -> list[Any]:
    reasons = "; ".join(filter(None, [outcome.detail, *(grade.reason for grade in outcome.grades)]))
    known = [info.tenant or "", info.question, info.expected] if info else ["", "", ""]
    return [*known, outcome.visible, reasons]


def _grades(grades: Iterable[Grade]) -> str:
    return ", ".join(f"{g.metric}={g.status}" + (f" ({g.fault})" if g.fault else "") for g in grades)
