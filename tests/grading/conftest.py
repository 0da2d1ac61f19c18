"""Grading that does not end is ended sooner in tests."""

from __future__ import annotations

import pytest

from qeval.grading._worker import WORKER


@pytest.fixture(autouse=True)
def _short_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(WORKER, "limit_s", 1.0)
