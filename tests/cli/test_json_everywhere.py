"""Every command takes --json, and its last stdout line is then one JSON value, for errors too."""

from __future__ import annotations

import errno
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from qeval.cli.main import app
from tests.cli.job_files import qeval, qeval_entry

ROOT = typer.main.get_command(app)


def commands(group: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    # By attribute: typer brings a click of its own, so isinstance would test against another class.
    if hasattr(group, "commands"):
        for name, command in group.commands.items():
            yield from commands(command, (*path, name))
    else:
        yield path


ALL = sorted(commands(ROOT))


def arguments(command: tuple[str, ...], folder: Path, tmp_path: Path) -> list[object]:
    records = folder / "out/records"
    known: dict[tuple[str, ...], list[object]] = {
        ("compare",): [records / "fp32", records / "int8"],
        ("formats",): [],
        ("grade",): [records / "int8", "--suites", folder / "capitals"],
        ("models", "fetch"): ["no-such-model"],
        ("models", "list"): [],
        ("power",): [],
        ("run",): [folder / "plan.yaml", "--out", folder / "out", "--no-track", "--resume"],
        ("schemas",): [tmp_path],
        ("selftest",): ["--out", folder],
        ("suites", "check"): [folder / "capitals"],
        ("suites", "import"): ["gsm8k", tmp_path / "no-such-file", "--out", tmp_path / "out"],
        ("suites", "list"): [],
        ("suites", "new"): ["starter", "--out", tmp_path / "starter"],
        ("suites", "show"): [folder / "capitals"],
        ("track", "push"): [tmp_path / "nothing-here"],
    }
    assert command in known, f"give this test arguments for the new command {' '.join(command)}"
    return known[command]


@pytest.mark.parametrize("command", ALL, ids=" ".join)
def test_the_last_stdout_line_is_json(command: tuple[str, ...], finished: Path, tmp_path: Path) -> None:
    done = qeval_entry(*command, *arguments(command, finished, tmp_path), "--json")
    json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize("command", ALL, ids=" ".join)
def test_help_has_an_example_and_explains_every_option(command: tuple[str, ...]) -> None:
    result = qeval(*command, "--help")
    assert result.exit_code == 0
    assert "Example" in result.stdout
    found: Any = ROOT
    for part in command:
        found = found.commands[part]
    for parameter in found.params:
        assert getattr(parameter, "help", None), f"{' '.join(command)} {parameter.name} has no help"


class Panic(BaseException):
    """As the libraries written in Rust raise it."""


@pytest.mark.parametrize(
    ("end", "code"),
    [
        (KeyboardInterrupt(), 130),
        (BrokenPipeError(errno.EPIPE, "Broken pipe"), 70),
        (EOFError(), 70),
        (SystemExit(0), 70),
        (SystemExit(1), 70),
        (Panic("not an Exception"), 70),
        (PermissionError(errno.EACCES, "Permission denied", "x"), 2),
    ],
    ids=lambda value: value if isinstance(value, int) else repr(value),
)
def test_an_end_that_nobody_decided_is_no_verdict(
    end: BaseException, code: int, monkeypatch: Any, tmp_path: Path
) -> None:
    def ended(*_: object, **__: object) -> None:
        raise end

    monkeypatch.setattr("qeval.suites.importing.gather", ended)
    done = qeval_entry("suites", "import", "gsm8k", "x", "--out", tmp_path / "out", "--json")
    assert (done.returncode, json.loads(done.stdout.splitlines()[-1])["exit_code"]) == (code, code)
    if isinstance(end, KeyboardInterrupt):
        assert "interrupted" in done.stderr


def test_the_json_line_is_one_line_whatever_is_in_it(tmp_path: Path) -> None:
    (tmp_path / "case.json").write_text(
        '{"id": "c", "prompt": "q", "graders": [{"kind": "exact", "value": "x"}]}', encoding="utf-8"
    )
    (tmp_path / "answer.txt").write_text("a\u2028b\u2029c\x85d", encoding="utf-8")
    done = qeval_entry("grade", tmp_path / "case.json", tmp_path / "answer.txt", "--json")
    assert "a" in json.loads(done.stdout.splitlines()[-1])["grades"][0]["reason"]
