from __future__ import annotations

from pathlib import Path

import pytest

from qeval.compare.report import Report
from qeval.record import Record, folder_name, save_record
from qeval.reporting.files import write_all
from tests.factories import make_outcome, make_record
from tests.reporting.fake import HOSTILE, divergence, full_report
from tests.reporting.tracking.mlflow_server import server as server

SECRET = "the patient's name is Quentin"


def write_record(folder: Path, record: Record) -> None:
    save_record(folder / "records" / folder_name(record.header.variant), record)


def secret_record(variant: str) -> Record:
    """Texts in every field that holds any: prompts, answers, reasons, messages of exceptions."""
    passes: dict[str, list[bool | None]] = {"longdoc": [True, False, None, True], "multilingual": [True]}
    tags = {"longdoc": [{"depth": "0.9"}, {"depth": "0.9"}, {"depth": "0.1"}, {"depth": "0.1"}]}
    record = make_record(variant, passes, tags=tags, state_detail=f"failed at: {SECRET}")
    hostile = make_outcome("longdoc", "c0000", True, text=SECRET + HOSTILE["surrogate"])
    failed = record.outcomes[1].grades[0].model_copy(update={"reason": SECRET})
    outcomes = (
        hostile,
        record.outcomes[1].model_copy(update={"grades": (failed,)}),
        record.outcomes[2].model_copy(update={"detail": SECRET}),
        *record.outcomes[3:],
    )
    cases = tuple(case.model_copy(update={"question": SECRET, "tenant": SECRET}) for case in record.cases)
    return Record(record.header, cases, outcomes)


def secret_report() -> Report:
    report = full_report()
    texts = dict.fromkeys(("question", "expected", "baseline_text", "candidate_text"), SECRET)
    faults = dict.fromkeys(("baseline_fault", "candidate_fault"), f"contains: wrong_value: {SECRET}")
    tokens = {"divergence": divergence(baseline_token=SECRET, candidate_token=SECRET)}
    changed = tuple(case.model_copy(update=texts | faults | tokens) for case in report.changed)
    variants = tuple(v.model_copy(update={"state_detail": SECRET}) for v in report.variants)
    return report.model_copy(update={"changed": changed, "variants": variants})


@pytest.fixture
def run_folder(tmp_path: Path) -> Path:
    folder = tmp_path / "run"
    write_all(secret_report(), folder)
    for variant in ("fp32", "nf4"):
        write_record(folder, secret_record(variant))
    return folder


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch):
    monkeypatch.setenv("no_proxy", "127.0.0.1,localhost")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1,localhost")
