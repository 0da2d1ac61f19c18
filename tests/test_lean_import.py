"""Starting qeval, or comparing records, must not load what only models need."""

import subprocess
import sys

import pytest

HEAVY = ("torch", "transformers", "mlflow", "pandas", "bitsandbytes", "py3langid", "datasets")


@pytest.mark.parametrize(
    "code",
    [
        "import qeval",
        "import qeval.compare.build, qeval.reporting.files, qeval.reporting.terminal",
        "import qeval.suites.load, qeval.grading",
        "from typer.testing import CliRunner; from qeval.cli.main import app; "
        "assert CliRunner().invoke(app, ['--help']).exit_code == 0",
        "from typer.testing import CliRunner; from qeval.cli.main import app; "
        "assert CliRunner().invoke(app, ['suites', 'list']).exit_code == 0",
        "import qeval.runner.run, qeval.runner.child",
    ],
    ids=["package", "compare and reports", "suites", "help", "suites list", "runner"],
)
def test_nothing_heavy_is_imported(code: str) -> None:
    check = f"{code}\nimport sys\nloaded = [n for n in {HEAVY!r} if n in sys.modules]\nassert not loaded, loaded"
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
