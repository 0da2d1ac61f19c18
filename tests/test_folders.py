"""A folder of files is there whole, or can be told to be unfinished, wherever its making is cut short."""

from __future__ import annotations

from pathlib import Path

import pytest

from qeval import folders
from qeval.folders import names_in, write_folder
from qeval.jsonl import write_atomic
from tests.cli.job_files import qeval_entry

TEXTS = {"README.md": "about", "cases.jsonl": "{}", "suite.yaml": "name: x"}


class Killed(BaseException):
    """Stands for a kill: nothing handles it."""


def killed_after(writes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let so many files be written, then leave the next as a kill in the middle of it does."""
    left = iter(range(writes))

    def write(path: Path, text: str) -> None:
        if next(left, None) is None:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.with_name(f".{path.name}.4711.tmp").write_text(text[: len(text) // 2])
            raise Killed
        write_atomic(path, text)

    monkeypatch.setattr(folders, "write_atomic", write)


@pytest.mark.parametrize("writes", range(3))
def test_a_new_folder_is_whole_or_not_there(writes: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    killed_after(writes, monkeypatch)
    with pytest.raises(Killed):
        write_folder(tmp_path / "new", TEXTS)
    assert not (tmp_path / "new").exists()
    monkeypatch.undo()
    write_folder(tmp_path / "new", TEXTS)
    assert names_in(tmp_path) == ["new"]
    assert {name: (tmp_path / "new" / name).read_text() for name in names_in(tmp_path / "new")} == TEXTS


@pytest.mark.parametrize("writes", range(3))
def test_a_folder_that_is_replaced_lacks_its_last_file_until_the_end(
    writes: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_folder(tmp_path, TEXTS)
    killed_after(writes, monkeypatch)
    with pytest.raises(Killed):
        write_folder(tmp_path, {name: f"other {text}" for name, text in TEXTS.items()})
    assert "suite.yaml" not in names_in(tmp_path)
    assert names_in(tmp_path) == ["README.md", "cases.jsonl"]


@pytest.mark.parametrize("writes", range(3))
@pytest.mark.parametrize("there", [False, True], ids=["new folder", "empty folder"])
def test_an_import_that_was_cut_short_is_simply_done_again(
    there: bool, writes: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, out = tmp_path / "data.jsonl", tmp_path / "out"
    source.write_text('{"question": "What is 2+2?", "answer": "It is 2+2=4\\n#### 4"}\n')
    if there:
        out.mkdir()
    killed_after(writes, monkeypatch)
    assert qeval_entry("suites", "import", "gsm8k", source, "--out", out).returncode == 70
    monkeypatch.undo()
    done = qeval_entry("suites", "import", "gsm8k", source, "--out", out)
    assert done.returncode == 0, done.stderr
    assert qeval_entry("suites", "check", out).returncode == 0
