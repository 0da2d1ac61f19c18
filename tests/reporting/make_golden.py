"""Write the golden terminal outputs anew: `python -m tests.reporting.make_golden`. Read the diff before committing."""

from __future__ import annotations

from pathlib import Path

from qeval.reporting.terminal import to_text
from tests.reporting.fake import full_report

WIDTHS = (80, 140)


def path(width: int) -> Path:
    return Path(__file__).parent / "golden" / f"terminal_{width}.txt"


if __name__ == "__main__":
    for columns in WIDTHS:
        path(columns).write_text(to_text(full_report(), columns), encoding="utf-8")
