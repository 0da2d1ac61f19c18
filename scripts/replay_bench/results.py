"""What was measured: a file of JSON lines, the setting first, then a result a line as each is done."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from qeval.errors import UsageError
from qeval.jsonl import append_lines, dumps, loads, read_appended, write_atomic
from qeval.record import PilotTimes, Replay
from qeval.strict import Strict, validate

LM_EVAL = "lm-eval"
SWEEP = "sweep"
AUTO = "auto"
PLAIN, REPLAYED = "plain", "replay throughout"
QEVAL_ARMS = (PLAIN, REPLAYED)
"""Without a pilot, which takes most of so few cases: what it chooses on whole suites is in docs/replay.md."""


class WorkSize(Strict):
    """How much one set of cases is."""

    cases: int
    prompt_tokens: int
    distinct_tokens: int
    """Prompt tokens where shared prefixes are counted once."""
    digest: str
    """sha256 over the suite."""


class Setting(Strict):
    """What must be alike for results to stand in one table."""

    model: str
    formats: tuple[str, ...]
    """The baseline first."""
    threads: int
    processor: str
    versions: dict[str, dict[str, str]]
    """Of packages, by harness."""
    works: dict[str, WorkSize]


class Part(Strict):
    """One format in one arm."""

    load_s: float | None
    answer_s: float
    """All the arm needs to have its answers, pilot and scoring included, loading left out."""
    texts: tuple[str, ...]
    """Answers, in the order of the cases."""
    batch_size: int | None = None
    """Of lm-eval; None where qeval plans its own."""
    replay: Replay | None = None
    pilot: PilotTimes | None = None


class Result(Strict):
    """One arm on one set of cases, once."""

    work: str
    arm: str
    round: int
    batch_size: int | None = None
    """As asked of lm-eval; None where qeval or `auto` decides."""
    wall_s: float
    """From starting the process or processes to their end, everything included."""
    parts: dict[str, Part]
    """By format."""
    failure: str = ""
    """Why there are no parts."""

    @property
    def key(self) -> tuple[str, str, int, int | None]:
        """What makes it one of its kind; of the arm lm-eval the batch size follows from the sweep."""
        return self.work, self.arm, self.round, self.batch_size if self.arm == SWEEP else None


class Measured(NamedTuple):
    """The content of a file of results."""

    setting: Setting
    results: tuple[Result, ...]


def load(path: Path) -> Measured | None:
    """Read a file of results; None where there is none yet.

    Raises:
        UsageError: a line is damaged.
    """
    rows = list(read_appended(path, loads))
    if not rows:
        return None
    found = (validate(Result, row, f"{path}, line {number}") for number, row in enumerate(rows[1:], start=2))
    return Measured(validate(Setting, rows[0], f"{path}, line 1"), tuple(found))


def begin(path: Path, setting: Setting) -> Measured:
    """Take over what a file holds, or start it.

    Raises:
        UsageError: it was measured in another setting.
    """
    there = load(path) or Measured(setting, ())
    if there.setting != setting:
        other = [name for name in Setting.model_fields if getattr(there.setting, name) != getattr(setting, name)]
        raise UsageError(f"{path}: measured with other {', '.join(other)}. Give another file with --out.")
    # Whole, since a line that was torn in a write would swallow the next.
    write_atomic(path, "".join(f"{dumps(row.model_dump(mode='json'))}\n" for row in (setting, *there.results)))
    return there


def append(path: Path, result: Result) -> None:
    """Add a result."""
    append_lines(path, [result.model_dump(mode="json")])
