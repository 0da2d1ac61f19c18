from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from qeval.errors import UsageError
from qeval.models.cache import build_once, cache_root, models_folder


def test_the_cache_is_where_the_environment_says(monkeypatch, tmp_path):
    monkeypatch.setenv("QEVAL_CACHE", str(tmp_path / "here"))
    assert models_folder() == tmp_path / "here" / "models"
    assert not (tmp_path / "here").exists()


@pytest.mark.parametrize(
    ("platform", "variable", "expected"),
    [
        ("linux", "XDG_CACHE_HOME", "x/qeval"),
        ("linux", None, "~/.cache/qeval"),
        ("darwin", None, "~/Library/Caches/qeval"),
        ("win32", "LOCALAPPDATA", "x/qeval"),
        ("win32", None, "~/AppData/Local/qeval"),
    ],
)
def test_the_cache_is_at_the_platforms_place(monkeypatch, platform, variable, expected):
    for name in ("QEVAL_CACHE", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    if variable:
        monkeypatch.setenv(variable, "x")
    monkeypatch.setattr("sys.platform", platform)
    assert cache_root() == Path(expected).expanduser()


def test_a_folder_is_built_once(tmp_path):
    built = []

    def build(folder):
        built.append(folder)
        (folder / "weights").write_text("w")

    target = tmp_path / "models" / "m"
    assert build_once(target, build) == build_once(target, build) == target
    assert len(built) == 1
    assert (target / "weights").read_text() == "w"


def test_a_build_that_fails_leaves_nothing(tmp_path):
    def build(folder):
        (folder / "half").write_text("h")
        raise UsageError("no network")

    with pytest.raises(UsageError, match="no network"):
        build_once(tmp_path / "m", build)
    assert [path.name for path in tmp_path.iterdir() if path.is_dir()] == []


def test_what_a_killed_build_left_is_not_taken_over(tmp_path):
    left = tmp_path / ".m.partial"
    left.mkdir()
    (left / "torn").write_text("t")
    build_once(tmp_path / "m", lambda folder: (folder / "whole").touch())
    assert [path.name for path in (tmp_path / "m").iterdir()] == ["whole"]
    assert not left.exists()


def test_two_processes_build_once_between_them(tmp_path):
    code = (
        "import sys, time\n"
        "from pathlib import Path\n"
        "from qeval.models.cache import build_once\n"
        "root = Path(sys.argv[1])\n"
        "def build(folder):\n"
        "    with (root / 'log').open('a') as log: log.write('built\\n')\n"
        "    time.sleep(0.3)\n"
        "    (folder / 'weights').write_text('w')\n"
        "print((build_once(root / 'm', build) / 'weights').read_text())\n"
    )
    both = [
        subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    assert [process.communicate()[0] for process in both] == ["w\n", "w\n"]
    assert (tmp_path / "log").read_text() == "built\n"


def test_a_cache_that_cannot_be_written_says_what_to_do(tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(UsageError, match=r"cannot write the model cache.*QEVAL_CACHE"):
        build_once(tmp_path / "file" / "models" / "m", lambda folder: None)
