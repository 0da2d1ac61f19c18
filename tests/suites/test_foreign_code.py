"""A generator is a person's own code: whatever ends it is a usage error that names the file, but for a real Ctrl-C."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
import yaml

from qeval.errors import UsageError
from qeval.suites import load_suite
from qeval.suites.foreign_code import foreign_code

ROWS = yaml.safe_load(Path(__file__).with_name("generators.yaml").read_text("utf-8"))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["id"])
def test_a_generator_that_fails_is_named_with_its_line(tmp_path: Path, row: dict[str, str]) -> None:
    (tmp_path / "suite.yaml").write_text("name: made\nversion: 1\ndescription: Made.\ngenerator: generate.py\n")
    (tmp_path / "generate.py").write_text(row["code"])
    with pytest.raises(UsageError) as caught:
        load_suite(str(tmp_path), "smoke")
    assert str(caught.value).startswith(str(tmp_path / "generate.py"))
    assert row["says"] in str(caught.value)


def test_a_real_interrupt_passes_even_where_the_code_hides_it() -> None:
    before = signal.getsignal(signal.SIGINT)

    def press() -> None:
        try:
            os.kill(os.getpid(), signal.SIGINT)
        except KeyboardInterrupt:
            raise ValueError("hidden") from None

    with pytest.raises(KeyboardInterrupt), foreign_code(Path("generate.py")):
        press()
    assert signal.getsignal(signal.SIGINT) is before
