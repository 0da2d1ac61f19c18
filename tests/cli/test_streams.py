"""The exit code is the decision, whatever standard output and standard error are."""

from __future__ import annotations

import json
import shutil
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from qeval.reporting.files import HTML_FILE
from tests.cli.job_files import qeval_entry, write_job
from tests.cli.stream_faults import FAULTS, run_with

ROWS = yaml.safe_load(Path(__file__).with_name("streams.yaml").read_text("utf-8"))


class Place(NamedTuple):
    """A plan, the folder of its finished run with an accepted and a regressed candidate, and room for more."""

    plan: Path
    records: Path
    room: Path


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    folder = tmp_path_factory.mktemp("streams")
    wrong = {"same_as": "fp32", "answers": {f"c{index}": "Paris" for index in range(0, 160, 2)}}
    plan = write_job(folder, {"int8": {"same_as": "fp32"}, "nf4": wrong})
    assert qeval_entry("run", plan, "--out", folder / "out", "--no-track").returncode == 1
    return Place(plan, folder / "out/records", folder)


def commands(place: Place, room: Path) -> dict[str, tuple[list[object], int]]:
    """Every command with the exit code that it ends with where all streams work."""
    fp32, int8, nf4 = (place.records / name for name in ("fp32", "int8", "nf4"))
    capitals = place.room / "capitals"
    return {
        "compare, accepted": (["compare", fp32, int8, "--out", room / "report"], 0),
        "compare, regressed": (["compare", fp32, nf4], 1),
        "compare, no such record": (["compare", fp32, "/nope"], 2),
        "run, regressed": (["run", place.plan, "--out", room / "run", "--no-track"], 1),
        "run, dry": (["run", place.plan, "--dry-run"], 0),
        "run, report only": (["run", place.plan, "--out", room / "only", "--no-track", "--report-only"], 0),
        "grade": (["grade", int8, "--suites", capitals], 0),
        "power": (["power"], 0),
        "suites list": (["suites", "list"], 0),
        "suites check": (["suites", "check", capitals], 0),
        "suites show": (["suites", "show", capitals], 0),
        "suites new": (["suites", "new", "begin", "--out", room / "begin"], 0),
        "suites import": (["suites", "import", "dataset", capitals / "cases.jsonl", "--out", room / "new"], 2),
        "formats": (["formats", "--device", "cpu"], 0),
        "models list": (["models", "list"], 0),
        "models fetch": (["models", "fetch", "no-such-model"], 2),
        "track push": (["track", "push", room / "nothing"], 2),
        "schemas": (["schemas", room / "schemas"], 0),
        "selftest": (["selftest", "--help"], 0),
        "version": (["--version"], 0),
        "no such command": (["nope"], 2),
    }


SPOILT = [pair for pair in product(("", *FAULTS), repeat=2) if pair[0] == pair[1] or "" in pair][1:]
"""(stdout, stderr): one of them or both, in each way."""


def ids(pair: tuple[str, str]) -> str:
    return " and ".join(f"{fault} {name}" for fault, name in zip(pair, ("stdout", "stderr"), strict=True) if fault)


@pytest.mark.parametrize(
    "row", [pytest.param(row, marks=[pytest.mark.slow] if row.get("slow") else [], id=row["command"]) for row in ROWS]
)
def test_a_broken_stream_changes_no_exit_code(row: dict[str, Any], place: Place, tmp_path: Path) -> None:
    arguments, whole = commands(place, tmp_path)[row["command"]]
    more = row.get("more", [])
    left = run_with([*arguments, *more], stdout=row.get("stdout", ""), stderr=row.get("stderr", ""))
    assert left.code == row["code"] == whole
    if "run" in row["command"]:
        assert (tmp_path / "run" / HTML_FILE).is_file()
    if more:
        assert json.loads(left.stdout)["exit_code"] == row["code"]


@pytest.mark.parametrize("encoding", ["ascii", pytest.param("cp1252", marks=pytest.mark.slow)])
def test_what_an_encoding_lacks_is_written_in_ascii(encoding, place):
    arguments, code = commands(place, place.room)["compare, regressed"]
    left = run_with(arguments, environment={"PYTHONIOENCODING": encoding})
    assert (left.code, left.stderr) == (code, b"")
    assert "50.0 -> 0.0" in left.stdout.decode(encoding)
    assert left.stdout.isascii()


def test_json_stays_json_in_an_encoding_that_lacks_its_characters(tmp_path):
    (tmp_path / "case.json").write_text('{"id": "c", "prompt": "q", "graders": [{"kind": "exact", "value": "→é😀字"}]}')
    (tmp_path / "answer.txt").write_text("→é😀", encoding="utf-8")
    arguments = ["grade", tmp_path / "case.json", tmp_path / "answer.txt", "--json"]
    wide, narrow = (
        run_with(arguments, environment={"PYTHONIOENCODING": encoding}).stdout for encoding in ("utf-8", "cp1252")
    )
    assert narrow.isascii()
    assert json.loads(narrow) == json.loads(wide)
    assert "😀" in wide.decode()


def test_output_lost_on_a_full_disk_is_told_on_stderr(place):
    left = run_with(commands(place, place.room)["compare, accepted"][0], stdout="full")
    assert b"standard output could not be written (No space left on device)" in left.stderr


def test_closed_stdin_is_said_and_graded_as_nothing(place, tmp_path, monkeypatch):
    monkeypatch.setattr("sys.stdin", None)
    left = qeval_entry("grade", f"{place.room / 'capitals'}/c0", "-")
    assert (left.returncode, "stdin is closed" in left.stderr) == (2, True)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("spoilt", "more"),
    # With --json both streams are used in another way, which one kind of fault on each shows as well as all.
    [(pair, more) for pair in SPOILT for more in ([], ["--json"]) if not more or "full" in pair],
    ids=lambda value: ids(value) if isinstance(value, tuple) else "json" if value else "text",
)
def test_every_command_ends_as_it_would_with_whole_streams(spoilt, more, place, tmp_path):
    ended, expected = {}, {}
    for name, (arguments, code) in commands(place, tmp_path).items():
        flag = [] if name == "version" else more
        expected[name] = code
        ended[name] = run_with([*arguments, *flag], stdout=spoilt[0], stderr=spoilt[1]).code
    assert ended == expected


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS)
def test_a_run_leaves_the_same_record_whatever_its_streams_are(fault, place, tmp_path):
    for name, spoilt in (("whole", ""), ("broken", fault)):
        shutil.rmtree(tmp_path / name, ignore_errors=True)
        run_with(["run", place.plan, "--out", tmp_path / name, "--no-track"], stdout=spoilt, stderr=spoilt)
    for path in (tmp_path / "whole/records").rglob("*.jsonl"):
        assert path.read_bytes() == (tmp_path / "broken" / path.relative_to(tmp_path / "whole")).read_bytes()
