"""A folder belongs to one run at a time."""

from __future__ import annotations

from pathlib import Path

import pytest

from qeval.errors import UsageError
from qeval.runner.claim import only_writer


def test_a_second_run_in_a_folder_is_refused_while_the_first_writes(tmp_path: Path) -> None:
    with (
        only_writer(tmp_path),
        pytest.raises(UsageError, match="another qeval run is writing there"),
        only_writer(tmp_path),
    ):
        pass
    with only_writer(tmp_path):
        pass
