"""What is tracked of a run, as plain values: a parent run, and one nested run for each variant.

Few headline metrics, since hundreds slow the tracking page: suites and required slices. The rest of the figures
lie in the reports and in one table of cases, which are artifacts.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from qeval.compare.report import CandidateResult, Report, VariantSummary
from qeval.jsonl import dumps
from qeval.record import RECORD_FILE, Record, folder_name, load_record
from qeval.reporting import view
from qeval.reporting.files import render_all
from qeval.reporting.tracking.metrics import BASELINE_ID, comparison, costs, fidelity, gating, quality
from qeval.reporting.tracking.names import legal_names
from qeval.reporting.tracking.privacy import Privacy, case_table, digest, redact_record, redact_report
from qeval.reporting.visible import visible

CASES_ARTIFACT = "cases.json"
RECORDS_FOLDER = "records"
_PARAM_LIMIT = 250
"""Characters of a parameter that servers of any age take; a longer value is logged as its digest."""
_TAG_LIMIT = 4_000


class RunContent(NamedTuple):
    """One tracked run: all that is known of it before a server is asked."""

    key: str
    """The same for the same results, however often they are pushed; also the tag `qeval.key`."""
    name: str
    params: dict[str, str]
    tags: dict[str, str]
    metrics: dict[str, float]
    """By legal name; `BASELINE` stands for the baseline's run."""
    artifacts: dict[str, str]
    """Text by path."""
    started_ms: int


class Tracked(NamedTuple):
    """A whole job: the parent run, then its variants, the baseline first."""

    parent: RunContent
    variants: list[RunContent]


class _Frame(NamedTuple):
    """What all runs of a job share."""

    report: Report
    """As it is shown: without texts where they may not leave."""
    key: str
    privacy: Privacy
    started_ms: int


class _Draft(NamedTuple):
    """A run before its names are legal and its values short."""

    key: str
    name: str
    params: dict[str, str]
    tags: dict[str, str]
    metrics: Mapping[str, float | None]
    artifacts: dict[str, str]


def tracked(report: Report, folder: Path, privacy: Privacy) -> Tracked:
    """Collect what is tracked of a run folder.

    Args:
        report: the folder's report.
        folder: the run folder; records lie in `records/<variant>/`, and a variant without one is tracked without cases.
        privacy: `hashes` puts hashes for every text that a model read or printed or that a person wrote of a case.

    Raises:
        UsageError: a record is damaged.
    """
    records = {variant.variant: _record(folder, variant.variant) for variant in report.variants}
    redacted = {name: redact_record(record) if record else None for name, record in records.items()}
    headers = [dumps(record.header.model_dump(mode="json")) for record in records.values() if record is not None]
    # The same records compared again, as a finished run that is resumed does, are the same result.
    key = digest("\n".join([dumps(report.model_dump(mode="json", exclude={"created_at"})), *headers]))
    shown = report if privacy == "full" else redact_report(report, redacted)
    frame = _Frame(shown, key, privacy, _milliseconds(report.created_at))
    children = []
    for variant in shown.variants:
        record, hidden = records[variant.variant], redacted[variant.variant]
        draft = _child(frame, variant, record if privacy == "full" else hidden)
        if record is not None:
            draft = _with_record(draft, record, None if privacy == "full" else hidden)
        children.append(_finish(frame, draft))
    return Tracked(_finish(frame, _parent(frame)), children)


def _record(folder: Path, variant: str) -> Record | None:
    at = folder / RECORDS_FOLDER / folder_name(variant)
    return load_record(at) if (at / RECORD_FILE).is_file() else None


def _milliseconds(created_at: str) -> int:
    moment = datetime.fromisoformat(created_at)
    return int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1000)


def _parent(frame: _Frame) -> _Draft:
    report = frame.report
    suites = {name: info.model_dump(mode="json") for name, info in sorted(report.suites.items())}
    return _Draft(
        key=frame.key,
        name=f"{report.model} {report.created_at[:16].replace('T', ' ')}",
        params={
            "model": report.model,
            "baseline": report.baseline,
            "candidates": ", ".join(candidate.candidate for candidate in report.candidates),
            "suites": ", ".join(f"{name} v{info['version']} {info['size']}" for name, info in suites.items()),
            "policy": dumps(report.policy),
        },
        tags={
            "qeval.decision": report.decision,
            "qeval.decisions": ", ".join(f"{c.candidate}: {c.decision}" for c in report.candidates),
            "qeval.exit_code": str(report.exit_code),
            **({"qeval.picked": report.picked} if report.picked is not None else {}),
            "qeval.version": report.qeval_version,
            "qeval.model_fingerprint": report.model_fingerprint,
            "qeval.policy_digest": report.policy_digest,
            **{f"qeval.suite_digest.{_tag_name(name)}": info.digest for name, info in report.suites.items()},
        },
        metrics={
            "candidates/total": len(report.candidates),
            "candidates/accepted": sum(candidate.decision == "accepted" for candidate in report.candidates),
            "cases/total": sum(info.n_cases for info in report.suites.values()),
            "cases/changed": len(report.changed),
        },
        artifacts={
            **{f"report/{name}": text for name, text in render_all(report).items()},
            "config.json": dumps({"policy": report.policy, "suites": suites}, indent=1),
        },
    )


def _child(frame: _Frame, variant: VariantSummary, record: Record | None) -> _Draft:
    report = frame.report
    result = next((c for c in report.candidates if c.candidate == variant.variant), None)
    environment = variant.environment
    return _Draft(
        key=digest(f"{frame.key}/{variant.variant}"),
        name=variant.variant,
        params={"variant": variant.variant, "format": variant.format, "engine": variant.engine, "model": report.model},
        tags={
            "qeval.role": "candidate" if result else "baseline",
            "qeval.state": variant.state,
            "qeval.device": environment.device,
            "qeval.processor": environment.processor,
            "qeval.platform": environment.platform,
            "qeval.python": environment.python,
            **{f"qeval.versions.{_tag_name(name)}": version for name, version in environment.versions.items()},
            **(_outcome(report, result) if result else {}),
        },
        metrics={
            **costs(variant),
            **quality(report, variant, record),
            **{name: value for verdict in gating(result) for name, value in comparison(verdict).items()},
            **fidelity(result),
        },
        artifacts={"verdicts.json": dumps([v.model_dump(mode="json") for v in result.verdicts], indent=1)}
        if result
        else {},
    )


def _with_record(draft: _Draft, record: Record, redacted: Record | None) -> _Draft:
    header = (redacted or record).header
    return draft._replace(
        params=draft.params | {"decoding": dumps(header.decoding)},
        tags=draft.tags | {"mlflow.loggedArtifacts": dumps([{"path": CASES_ARTIFACT, "type": "table"}])},
        artifacts=draft.artifacts
        | {
            "record.json": dumps(header.model_dump(mode="json"), indent=1),
            CASES_ARTIFACT: case_table(record, redacted),
        },
    )


def _outcome(report: Report, result: CandidateResult) -> dict[str, str]:
    picked = {} if report.picked is None else {"qeval.picked": _yes_no(result.candidate == report.picked)}
    return {"qeval.decision": result.decision, "qeval.ended_early": _yes_no(view.ended_early(result)), **picked}


def _yes_no(answer: bool) -> str:
    return "yes" if answer else "no"


def finite(metrics: Mapping[str, float | None]) -> dict[str, float]:
    """Keep what is a number; a store would read NaN back as NaN and infinity as 1.8e308.

    >>> finite({"n": 0, "pass_rate": None, "perplexity": float("inf"), "loss": float("nan")})
    {'n': 0.0}
    """
    return {name: float(value) for name, value in metrics.items() if value is not None and math.isfinite(value)}


def _finish(frame: _Frame, draft: _Draft) -> RunContent:
    known = finite(draft.metrics)
    names = legal_names(draft.metrics)
    unknown = [legal for name, legal in names.items() if name not in known]
    tags = {"qeval.key": draft.key, "qeval.privacy": frame.privacy, **draft.tags}
    if unknown:
        tags["qeval.undefined_metrics"] = ", ".join(unknown)
    return RunContent(
        key=draft.key,
        name=_short(draft.name),
        params={param: _short(value) for param, value in draft.params.items()},
        tags={tag: visible(value)[:_TAG_LIMIT] for tag, value in tags.items()},
        metrics={names[name]: value for name, value in known.items()},
        artifacts={
            **draft.artifacts,
            "params.json": dumps(draft.params, indent=1),
            "metric_names.json": dumps({legal: name for name, legal in names.items()}, indent=1),
        },
        started_ms=frame.started_ms,
    )


def _short(value: str) -> str:
    value = visible(value)
    return value if len(value) <= _PARAM_LIMIT else f"sha256 {digest(value)} (whole in params.json)"


def _tag_name(name: str) -> str:
    return re.sub(r"[^\w\-. /]", "_", name)[:150]


def with_baseline(content: RunContent, baseline_run: str) -> RunContent:
    """Put the first 8 characters of the baseline's run id into the names of metrics that compare with it."""
    before, after = f"compare/{BASELINE_ID}/", f"compare/{baseline_run[:8]}/"
    return content._replace(
        metrics={
            (after + name.removeprefix(before) if name.startswith(before) else name): value
            for name, value in content.metrics.items()
        },
        artifacts={
            path: text.replace(f'"{before}', f'"{after}') if path == "metric_names.json" else text
            for path, text in content.artifacts.items()
        },
    )
