"""`qeval run --resume` over records that were damaged: what is damaged is redone, and the rest is left alone."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from qeval.jsonl import read_text
from qeval.record import load_header, load_record, save_header
from tests.cli.job_files import qeval_entry, write_job

VARIANTS = {"int8": {"same_as": "fp32", "answers": {"c3": "Paris", "c8": "Rome"}}, "nf4": {"same_as": "fp32"}}
Damage = Callable[[Path], None]


def cut(name: str, n_bytes: int) -> Damage:
    def damage(record: Path) -> None:
        path = record / name
        path.write_bytes(path.read_bytes()[:-n_bytes])

    return damage


def without_lines(name: str, chosen: slice) -> Damage:
    def damage(record: Path) -> None:
        lines = read_text(record / name).splitlines(keepends=True)
        del lines[chosen]
        (record / name).write_text("".join(lines))

    return damage


def replaced(name: str, old: str, new: str) -> Damage:
    def damage(record: Path) -> None:
        text = read_text(record / name)
        assert old in text
        (record / name).write_text(text.replace(old, new, 1))

    return damage


def gone(name: str) -> Damage:
    return lambda record: (record / name).unlink()


DAMAGES = {
    "torn last line": cut("outcomes.jsonl", 40),
    "hole in the middle": without_lines("outcomes.jsonl", slice(30, 33)),
    "changed grade": replaced("outcomes.jsonl", '"status": "fail"', '"status": "pass"'),
    "damaged line": replaced("outcomes.jsonl", '{"batch"', '{"bitch"'),
    "outcomes gone": gone("outcomes.jsonl"),
    "cases gone": gone("cases.jsonl"),
    "case changed": replaced("cases.jsonl", '"continent": "even"', '"continent": "odd"'),
    "header damaged": replaced("record.json", '"state"', '"stale"'),
    "header changed": replaced("record.json", '"engine": "scripted"', '"engine": "scribbled"'),
    "header torn": cut("record.json", 90),
}


@pytest.fixture(scope="module")
def finished_job(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("damaged")
    write_job(folder, VARIANTS, n_cases=48, batch_size=16)
    assert (
        qeval_entry("run", folder / "plan.yaml", "--out", folder / "out", "--no-track", "--report-only").returncode == 0
    )
    return folder


@pytest.mark.parametrize("variant", ["fp32", "int8"])
@pytest.mark.parametrize("name", DAMAGES)
def test_a_damaged_record_is_redone_and_equals_an_undisturbed_one(
    finished_job: Path, tmp_path: Path, name: str, variant: str
) -> None:
    """D36."""
    out = tmp_path / "out"
    shutil.copytree(finished_job / "out", out)
    DAMAGES[name](out / "records" / variant)
    others = {path: path.stat().st_mtime_ns for path in out.rglob("records/*/*.jsonl") if path.parent.name != variant}
    compared = qeval_entry("compare", out / "records/fp32", out / "records/int8", "--report-only")
    assert compared.returncode == 2
    assert f"records/{variant}" in compared.stderr
    done = qeval_entry("run", finished_job / "plan.yaml", "--out", out, "--resume", "--no-track", "--report-only")
    assert done.returncode == 0, done.stderr
    for one in ("fp32", "int8", "nf4"):
        before, after = (load_record(folder / "out/records" / one) for folder in (finished_job, tmp_path))
        assert (after.cases, after.outcomes, after.scored) == (before.cases, before.outcomes, before.scored)
        assert identity(after.header) == identity(before.header)
    assert {path: path.stat().st_mtime_ns for path in others} == others
    assert ("runs again from its first case" in done.stderr) == name.startswith("header")


def identity(header: object) -> dict[str, object]:
    """Return what of a header does not depend on the machine: all but what it measured, and of that the counts."""
    counted = {"prompt_tokens", "generated_tokens"}
    told: dict[str, object] = header.model_dump(exclude={"measurements"})  # type: ignore[attr-defined]
    return {**told, **header.measurements.model_dump(include=counted)}  # type: ignore[attr-defined]


@pytest.mark.parametrize("left", [1.0, 0.5], ids=["every answer is there", "half of the answers are there"])
def test_what_a_crash_left_is_no_whole_record(finished_job: Path, tmp_path: Path, left: float) -> None:
    out = tmp_path / "out"
    shutil.copytree(finished_job / "out", out)
    record = out / "records/int8"
    header = load_header(record)
    lines = read_text(record / "outcomes.jsonl").splitlines(keepends=True)
    (record / "outcomes.jsonl").write_text("".join(lines[: int(len(lines) * left)]))
    save_header(record, header.model_copy(update={"state": "crashed", "state_detail": "killed", "content": None}))
    done = qeval_entry("run", finished_job / "plan.yaml", "--out", out, "--resume", "--no-track", "--report-only")
    assert done.returncode == 0, done.stderr
    before, after = (load_record(folder / "out/records/int8") for folder in (finished_job, tmp_path))
    assert after.header.state == "complete"
    assert after.outcomes == before.outcomes
    assert identity(after.header) == identity(before.header)
    assert before.header.measurements.prompt_tokens > 0


def test_a_record_that_a_newer_qeval_wrote_is_never_redone(finished_job: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    shutil.copytree(finished_job / "out", out)
    path = out / "records/int8/record.json"
    path.write_text(json.dumps({**json.loads(read_text(path)), "schema_version": 99}))
    before = path.read_bytes()
    done = qeval_entry("run", finished_job / "plan.yaml", "--out", out, "--resume", "--no-track", "--report-only")
    assert done.returncode == 2
    assert "written by a newer qeval (schema 99" in done.stderr
    assert path.read_bytes() == before
