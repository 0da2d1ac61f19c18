"""`qeval suites import`: a folder that `suites check` accepts, and errors that say what to write."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.job_files import qeval_entry

PROBLEMS = '{"question": "1+1?", "answer": "#### 2"}\n{"question": "x", "answer": "y"}\n'


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "test.jsonl"
    path.write_text(PROBLEMS)
    return path


def test_an_import_is_told_written_and_accepted(source: Path, tmp_path: Path) -> None:
    done = qeval_entry("suites", "import", "gsm8k", source, "--out", tmp_path / "out", "--name", "own", "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout.splitlines()[-1])
    assert (told["rows"], told["cases"], told["name"], told["masked"]) == (2, 1, "own", None)
    assert told["dropped"] == {"no gold number: the answer has no '####'": 1}
    assert "dropped 1: no gold number" in done.stderr
    assert qeval_entry("suites", "check", tmp_path / "out").returncode == 0
    again = qeval_entry("suites", "import", "gsm8k", source, "--out", tmp_path / "out")
    assert (again.returncode, "--force to replace it" in again.stderr) == (2, True)


def test_two_imports_of_one_kind_have_two_names_and_run_together(source: Path, tmp_path: Path) -> None:
    # D26
    folders = [tmp_path / "Traffic of May", tmp_path / "june"]
    for folder in folders:
        assert qeval_entry("suites", "import", "gsm8k", source, "--out", folder).returncode == 0
    checked = qeval_entry("suites", "check", *folders, "--json")
    told = json.loads(checked.stdout.splitlines()[-1])
    assert (checked.returncode, [suite["name"] for suite in told["suites"]]) == (0, ["traffic-of-may", "june"])
    assert (told["independence"]["cases"], told["independence"]["prompts"]) == (2, 1)


def test_near_equal_prompts_are_told_and_can_be_kept_apart(tmp_path: Path) -> None:
    rows = [{"question": f"Ann has {n} apples and eats one. How many are left?", "answer": f"#### {n}"} for n in "234"]
    (tmp_path / "test.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    done = qeval_entry("suites", "import", "gsm8k", tmp_path / "test.jsonl", "--out", tmp_path / "a", "--json")
    told = json.loads(done.stdout.splitlines()[-1])
    assert (told["clusters"], told["near_equal"]) == (1, {"cases": 3, "groups": 1})
    assert "near-equal prompts: 3 cases in 1 groups; each group is one cluster" in done.stderr
    kept = ("--out", tmp_path / "b", "--keep-near-equal", "--json")
    done = qeval_entry("suites", "import", "gsm8k", tmp_path / "test.jsonl", *kept)
    told = json.loads(done.stdout.splitlines()[-1])
    assert (told["clusters"], told["near_equal"]) == (3, None)


def test_help_lists_the_kinds_and_the_rules_can_be_seen(tmp_path: Path) -> None:
    helped = qeval_entry("suites", "import", "--help").stdout
    assert all(kind in helped for kind in ("bfcl", "openai-log", "mlflow", "dataset"))
    shown = qeval_entry("suites", "import", "--show-masks")
    assert (shown.returncode, "name: EMAIL" in shown.stdout) == (0, True)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--grader", "{"), "--grader: not JSON"),
        (("--grader", "{}"), "--grader: has no 'kind'"),
        (("--grader", "exact"), "'value' or 'values'"),
        (("--name", "My Suite"), "key 'name'"),
    ],
)
def test_a_slip_is_told(tmp_path: Path, arguments: tuple[str, ...], said: str) -> None:
    log = tmp_path / "log.jsonl"
    log.write_text('{"messages": [{"role": "user", "content": "x"}]}\n')
    done = qeval_entry("suites", "import", "openai-log", log, "--out", tmp_path / "out", *arguments)
    assert (done.returncode, said in done.stderr) == (2, True), done.stderr
    assert not (tmp_path / "out").exists()


def test_half_an_emoji_in_a_dropped_row_is_told_and_written(tmp_path: Path) -> None:
    lines = [
        '{"messages": [{"role": "us\\ud83d", "content": "q"}]}',
        '{"messages": [{"role": "us\\u001b[31m", "content": "q"}]}',
        '{"request": {"messages": [{"role": "user", "content": "q"}]}, "response": "yes"}',
    ]
    (tmp_path / "log.jsonl").write_text("\n".join(lines))
    command = (sys.executable, "-m", "qeval", "suites", "import", "openai-log", str(tmp_path / "log.jsonl"))
    grader = '{"kind": "exact", "value": "{{ answer }}"}'
    done = subprocess.run(
        (*command, "--out", str(tmp_path / "out"), "--grader", grader), capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert b"\x1b" not in done.stdout
    assert "us\\ud83d" in (tmp_path / "out/README.md").read_text(encoding="utf-8")


def test_d11_a_row_with_half_a_character_is_dropped_and_counted(tmp_path: Path) -> None:
    lines = [
        '{"messages": [{"role": "user", "content": "half \\ud83d"}, {"role": "assistant", "content": "a"}]}',
        '{"messages": [{"role": "user", "content": "whole \\ud83d\\ude00"}, {"role": "assistant", "content": "a"}]}',
    ]
    (tmp_path / "log.jsonl").write_text("\n".join(lines))
    grader = '{"kind": "exact", "value": "{{ answer }}"}'
    out = tmp_path / "out"
    done = qeval_entry("suites", "import", "openai-log", tmp_path / "log.jsonl", "--out", out, "--grader", grader)
    assert done.returncode == 0, done.stderr
    readme = (out / "README.md").read_text(encoding="utf-8")
    assert "| 1 | half a character, which no model can be shown | log.jsonl, line 1: messages.0.content" in readme
    assert len((out / "cases.jsonl").read_text(encoding="utf-8").splitlines()) == 1


def test_an_error_does_not_pass_on_the_terminal_escapes_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "log.jsonl").write_text('{"messages": [{"role": "us\\u001b[31m", "content": "q"}]}')
    done = qeval_entry("suites", "import", "openai-log", tmp_path / "log.jsonl", "--out", tmp_path / "out", "--json")
    assert done.returncode == 2
    assert "\x1b" not in done.stderr
    assert "us\x1b" in json.loads(done.stdout.splitlines()[-1])["error"]
