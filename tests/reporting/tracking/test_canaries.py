"""Under `privacy: hashes` nothing leaves of prompts, answers, arguments, tags' values, clusters or what went wrong.

Canaries stand in every place for text, found by walking the types; what leaves is searched for them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from qeval.chat import ToolCall
from qeval.compare.build import build_report
from qeval.compare.policy import Policy
from qeval.compare.report import Report
from qeval.outcome import Outcome
from qeval.record import CaseInfo, ModelInfo, Record, RecordHeader
from qeval.reporting.files import write_all
from qeval.reporting.tracking import push
from qeval.reporting.tracking.content import Tracked, tracked
from qeval.reporting.tracking.privacy import WITHHELD, case_table, redact_record, redact_report
from qeval.reporting.verdict import load_report, render_verdict
from qeval.runner import run
from qeval.scored import ScoredAnswer
from qeval.text_kinds import TextKind, rewrite
from tests.cli.job_files import qeval_entry
from tests.factories import FIDELITY, make_outcome, make_record, make_scored
from tests.filled import filled
from tests.one_process import run_here
from tests.reporting.tracking.conftest import write_record

MAY_LEAVE = {TextKind.OWN, TextKind.NAME}
CANARY = "Quetzalcoatl"


class Canaries:
    """Writes another canary wherever it is asked for a text, and knows of what kind each is."""

    def __init__(self) -> None:
        self.kinds: dict[str, tuple[str, TextKind | None]] = {}

    def __call__(self, path: str, kind: TextKind | None) -> str:
        canary = f"canary{len(self.kinds):04}x"
        self.kinds[canary] = (path, kind)
        return canary

    def escaped(self, sent: str) -> list[str]:
        """The paths of what may not leave and is in what is sent."""
        return [path for canary, (path, kind) in self.kinds.items() if canary in sent and kind not in MAY_LEAVE]

    def seen(self, sent: str) -> bool:
        return any(canary in sent for canary in self.kinds)


def test_a_canary_in_every_text_of_a_record_stays_here() -> None:
    write = Canaries()
    parts = (filled(RecordHeader, write), (filled(CaseInfo, write),), (filled(Outcome, write),))
    record = Record(*parts, (filled(ScoredAnswer, write),))
    hidden = redact_record(record)
    dumped = [hidden.header, *hidden.cases, *hidden.outcomes, *hidden.scored]
    sent = "\n".join([*(part.model_dump_json(warnings=False) for part in dumped), case_table(record, hidden)])
    assert write.escaped(sent) == []
    assert write.seen(sent), "names and digests are there"
    assert CANARY not in sent


def test_a_canary_in_every_text_of_a_report_stays_here() -> None:
    write = Canaries()
    report = filled(Report, write).model_copy(update={"created_at": "2026-11-29T00:00:00+00:00"})
    sent = render_verdict(redact_report(report, {}))
    assert write.escaped(sent) == []
    assert write.seen(sent)


def test_a_model_in_a_local_folder_leaves_without_its_path() -> None:
    path = "/home/jane.doe/models/ours/"
    record = make_record("fp32", {"s": [True]}, model=ModelInfo(name=path, fingerprint="ab"))
    assert redact_record(record).header.model.name == "ours"
    report = filled(Report, lambda *_: "2026-11-29T00:00:00+00:00").model_copy(update={"model": path})
    assert redact_report(report, {}).model == "ours"


def planted(record: Record) -> Record:
    """Put a canary into every text that may not leave; equal texts stay equal."""

    def plant(kind: TextKind, value: Any) -> Any:
        if kind in MAY_LEAVE or not value:
            return value
        return f"{CANARY} {value}" if isinstance(value, str) else {f"{CANARY} {key}": CANARY for key in value}

    return Record(
        rewrite(record.header, plant),
        tuple(rewrite(info, plant) for info in record.cases),
        tuple(rewrite(outcome, plant) for outcome in record.outcomes),
        tuple(rewrite(scored, plant) for scored in record.scored),
    )


class Run(NamedTuple):
    """A run folder full of canaries, and the report in it."""

    folder: Path
    report: Report


def run_of(folder: Path, candidate: str, **overrides: Any) -> Run:
    """Write the records of fp32 and of a candidate that loses half its cases, with every text a record can have."""
    n = 64
    tags = {"s": [{"lang": "de" if i % 2 else "en", "who": f"person {i % 40}"} for i in range(n)]}
    clusters = {"s": [f"family {i % 32}" for i in range(n)]}

    def outcomes(right: Sequence[bool]) -> Iterator[Outcome]:
        for i, passed in enumerate(right):
            calls = (ToolCall(name="send", arguments={"to": "a friend"}),)
            yield make_outcome("s", f"c{i:04}", passed, tool_calls=calls, detail="a part of the prompt was cut")
        yield make_outcome("s", "c0000", True, repeat=1)

    scored = tuple(make_scored("s", f"c{i:04}", [0.1, 0.2], divergence=("yes", "no")) for i in range(n))
    records = []
    for variant, right in (("fp32", [True] * n), (candidate, [i % 4 > 1 for i in range(n)])):
        more = overrides if variant == candidate else {}
        made = list(outcomes(right))
        record = make_record(
            variant, {"s": right}, tags=tags, clusters=clusters, outcomes=made, fidelity=FIDELITY, **more
        )
        cases = tuple(info.model_copy(update={"tenant": "a tenant"}) for info in record.cases)
        records.append(planted(record._replace(cases=cases, scored=scored if variant == candidate else ())))
    for record in records:
        write_record(folder, record)
    policy = Policy.model_validate(
        {
            "required": [f"lang={CANARY} de", f"s/lang={CANARY} en&who={CANARY} person 2"],
            "margins": {"slices": {f"lang={CANARY} de": 0.05}},
            "limits": {"max_net_loss": {"all": 0.1, f"s/lang={CANARY} de": 0.1}},
        }
    )
    report = build_report(records[0], records[1:], policy, created_at="2026-11-29T00:00:00+00:00")
    write_all(report, folder)
    return Run(folder, report)


STATES: list[dict[str, Any]] = [
    {"id": "complete", "state": {}},
    {
        "id": "D32",
        "state": {"state": "crashed", "state_detail": "ValueError: cannot read 'the prompt of a patient'"},
    },
]


def everything(content: Tracked) -> str:
    """All that would leave, as one text."""
    return json.dumps([run._asdict() for run in (content.parent, *content.variants)], ensure_ascii=False)


@pytest.mark.parametrize("row", STATES, ids=lambda row: row["id"])
def test_nothing_of_a_case_leaves_and_the_sentences_stay(row: dict[str, Any], tmp_path: Path) -> None:
    made = run_of(tmp_path, "nf4", **row["state"])
    sent = everything(tracked(load_report(tmp_path), tmp_path, "hashes"))
    assert CANARY not in sent
    assert CANARY in everything(tracked(load_report(tmp_path), tmp_path, "full"))
    hidden = json.loads(tracked(made.report, tmp_path, "hashes").parent.artifacts["report/verdict.json"])
    shown = json.loads(render_verdict(made.report))
    assert WITHHELD not in sent
    for ours, theirs in zip(hidden["candidates"], shown["candidates"], strict=True):
        assert (ours["decision"], len(ours["reasons"])) == (theirs["decision"], len(theirs["reasons"]))
    assert {v["slice"]["tag"] for v in hidden["candidates"][0]["verdicts"]} == {
        v["slice"]["tag"] for v in shown["candidates"][0]["verdicts"]
    }


def test_without_records_no_sentence_leaves(tmp_path: Path) -> None:
    made = run_of(tmp_path / "run", "nf4")
    write_all(made.report, tmp_path / "alone")
    sent = everything(tracked(made.report, tmp_path / "alone", "hashes"))
    assert CANARY not in sent
    assert WITHHELD in sent


def test_records_of_another_comparison_do_not_speak_for_the_report(tmp_path: Path) -> None:
    made = run_of(tmp_path, "nf4")
    changed = made.report.model_copy(update={"decision": "accepted", "exit_code": 0})
    write_all(changed, tmp_path)
    hidden = json.loads(tracked(changed, tmp_path, "hashes").parent.artifacts["report/verdict.json"])
    assert (hidden["decision"], hidden["candidates"][0]["reasons"][0]) == ("accepted", WITHHELD)


def test_a_candidate_without_a_record_is_tracked_without_its_reason(tmp_path: Path) -> None:
    made = run_of(tmp_path, "nf4")
    records = [redacted for redacted in (tmp_path / "records").iterdir() if redacted.is_dir()]
    assert len(records) == 2
    missing = build_report(
        *_first_and_rest(tmp_path), Policy(), created_at=made.report.created_at, missing={"int8": f"crashed: {CANARY}"}
    )
    write_all(missing, tmp_path)
    sent = everything(tracked(missing, tmp_path, "hashes"))
    assert CANARY not in sent
    assert "no record: its reason is in the run's folder" in sent


def _first_and_rest(folder: Path) -> tuple[Record, list[Record]]:
    from qeval.record import load_record

    return load_record(folder / "records/fp32"), [load_record(folder / "records/nf4")]


@pytest.mark.slow
def test_a_store_holds_no_canary_in_any_file(tmp_path: Path) -> None:
    from qeval.reporting.tracking.store import store

    run_of(tmp_path / "run", "nf4", **STATES[1]["state"])
    content = tracked(load_report(tmp_path / "run"), tmp_path / "run", "hashes")
    (tmp_path / "store").mkdir()
    store(f"sqlite:///{tmp_path / 'store/mlflow.db'}", "e", content, (tmp_path / "store/artifacts").as_uri())
    files = [path for path in (tmp_path / "store").rglob("*") if path.is_file()]
    assert any(path.name == "report.html" for path in files)
    assert [path for path in files if CANARY.encode() in path.read_bytes()] == []


@pytest.mark.slow
def test_a_server_received_no_canary(tmp_path: Path, server: tuple[str, Path]) -> None:
    """Case D32, on a real server: its whole database and all its artifacts are searched."""
    uri, store_folder = server
    run_of(tmp_path, "nf4", **STATES[1]["state"])
    result = push(tmp_path, uri, "canaries", "hashes")
    assert result.pushed, result.warning
    files = [path for path in store_folder.rglob("*") if path.is_file()]
    assert any(path.name == "cases.json" for path in files)
    assert [path for path in files if CANARY.encode() in path.read_bytes()] == []


def test_a_whole_job_tracked_under_hashes_holds_nothing_of_its_cases(tmp_path: Path) -> None:
    write_canary_job(tmp_path)
    done = qeval_entry("run", tmp_path / "plan.yaml", "--out", tmp_path / "out", "--no-track")
    assert done.returncode == 5, done.stderr
    sent = everything(tracked(load_report(tmp_path / "out"), tmp_path / "out", "hashes"))
    assert CANARY not in sent
    assert WITHHELD not in sent
    assert CANARY in done.stdout, "people here see the texts"


def write_canary_job(folder: Path) -> None:
    """Write a suite, script, policy and plan with a canary in all that a person may write of a case."""
    suite = folder / "suite"
    suite.mkdir()
    (suite / "suite.yaml").write_text(f"name: s\nversion: 1\ndescription: {CANARY}\n")
    tool = {"name": f"{CANARY}_f", "parameters": {"type": "object", "properties": {CANARY: {"type": "string"}}}}
    call = {"kind": "tool_call", "calls": [{"name": f"{CANARY}_f", "arguments": {CANARY: CANARY}}]}
    cases: list[dict[str, Any]] = []
    answers: dict[str, str] = {}
    wrong: dict[str, Any] = {}
    for i in range(60):
        graders = [call] if i % 3 == 0 else [{"kind": "contains", "value": f"{CANARY} {i % 7}"}]
        cases.append(
            {
                "id": f"c{i}",
                "messages": [{"role": "user", "content": f"{CANARY}? {i}"}],
                "graders": graders,
                "tools": [tool] if i % 3 == 0 else [],
                "tags": {"who": f"{CANARY} {i % 2}"},
                "cluster": f"{CANARY} {i % 30}",
                "tenant": CANARY,
            }
        )
        call_text = json.dumps({"name": f"{CANARY}_f", "arguments": {CANARY: CANARY}})
        answers[f"c{i}"] = f"<tool_call>{call_text}</tool_call>" if i % 3 == 0 else f"It is {CANARY} {i % 7}."
        if i % 4:
            wrong[f"c{i}"] = f"{CANARY}? No."
        elif i % 8 == 0:
            wrong[f"c{i}"] = {"status": "endpoint_error", "detail": f"HTTP 500: {CANARY}"}
    (suite / "cases.jsonl").write_text("".join(json.dumps(case) + "\n" for case in cases))
    variants = {"fp32": {"answers": answers}, "nf4": {"same_as": "fp32", "answers": wrong}}
    (folder / "script.yaml").write_text(yaml.safe_dump({"variants": variants}))
    (folder / "policy.yaml").write_text(yaml.safe_dump({"required": [f"who={CANARY} 1"]}))
    plan = {"model": "scripted", "engine": "scripted", "script": "script.yaml", "variants": ["fp32", "nf4"]}
    (folder / "plan.yaml").write_text(yaml.safe_dump({**plan, "suites": ["./suite"], "policy": "policy.yaml"}))


@pytest.fixture(autouse=True)
def _one_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "run_in_process", run_here)
