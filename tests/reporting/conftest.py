from __future__ import annotations

import pytest

from qeval.compare.report import Report
from tests.reporting.fake import full_report


@pytest.fixture(scope="session")
def report() -> Report:
    return full_report()
