"""The wheel carries the built-in suites, and an installed qeval finds them from any folder."""

from __future__ import annotations

import json
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.mark.slow
def test_an_installed_wheel_lists_the_built_in_suites_from_another_folder(tmp_path: Path) -> None:
    build = [sys.executable, "-m", "build", "--wheel", "--outdir", str(tmp_path / "dist"), str(ROOT)]
    subprocess.run(build, check=True, capture_output=True)
    (wheel,) = (tmp_path / "dist").glob("*.whl")
    venv.create(tmp_path / "venv", with_pip=False)
    python = tmp_path / "venv/bin/python"
    install = [sys.executable, "-m", "pip", "--python", str(python), "install", "--no-deps", "--quiet", str(wheel)]
    subprocess.run(install, check=True, capture_output=True)
    # The dependencies are those of this environment: listed after the new one's own packages, and without the
    # editable qeval, which is a path file that only its own site-packages reads.
    site = next((tmp_path / "venv/lib").glob("python*/site-packages"))
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    done = subprocess.run(
        [str(tmp_path / "venv/bin/qeval"), "suites", "list", "--json"],
        capture_output=True,
        text=True,
        check=False,
        cwd=elsewhere,
    )
    assert done.returncode == 0, done.stderr
    listed = json.loads(done.stdout.splitlines()[-1])
    assert [suite["name"] for suite in listed] == ["longdoc", "multilingual", "rare", "refusal", "schema", "toolcalls"]
    assert all(suite["smoke_cases"] >= 16 for suite in listed)
    # What the commands read besides code lies in the wheel too.
    for command in (["suites", "new", "mine"], ["suites", "import", "--show-masks"]):
        done = subprocess.run(
            [str(tmp_path / "venv/bin/qeval"), *command], capture_output=True, text=True, check=False, cwd=elsewhere
        )
        assert done.returncode == 0, done.stderr
