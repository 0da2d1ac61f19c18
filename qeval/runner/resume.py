"""Taking over an interrupted record: what may be kept, and when it must be refused."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from qeval.errors import UsageError
from qeval.jsonl import dumps, write_atomic
from qeval.outcome import Outcome
from qeval.record import (
    OUTCOMES_FILE,
    SCORED_FILE,
    Measurements,
    RecordHeader,
    Replay,
    load_header,
    load_outcomes,
    load_scored,
)
from qeval.runner.batches import Batch

_MAY_DIFFER = {
    "stopping",
    "judge",
    "state",
    "state_detail",
    "measurements",
    "notes",
    "batch_mates",
    "fidelity",
    "replay",
}
"""The judge grades when all have answered. What fidelity rests on is known at the end, and what a pilot chose after it;
a resumed run keeps to that. Notes and the batch-mate test follow from what is compared, but for the last digits of what
a device computes."""


_LONGEST = 40
"""Characters of a value that a message quotes."""


class Kept(NamedTuple):
    """What a resumed record holds already."""

    batches: frozenset[tuple[int, int]]
    """(repeat, index) of the batches that are whole."""
    answers: int
    measurements: Measurements | None = None
    replay: Replay | None = None
    """The choice between plain decoding and replay, where one was made."""


def check_same_identity(before: RecordHeader, now: RecordHeader) -> None:
    """Refuse to mix answers of two different set-ups in one record.

    Raises:
        UsageError: suite, model, variant, library versions, decoding or anything else that matters differs;
            the message names each difference.
    """
    found = differences(
        before.model_dump(mode="json", exclude=_MAY_DIFFER), now.model_dump(mode="json", exclude=_MAY_DIFFER)
    )
    if found:
        raise UsageError(
            f"cannot resume {before.variant}: the record was made otherwise: {'; '.join(found)}. "
            "Restore what differs, or start again with another --out."
        )


def differences(before: Any, now: Any, path: str = "") -> list[str]:  # noqa: ANN401 - JSON values
    """Name each place where two JSON values differ.

    >>> differences({"a": {"b": 1}}, {"a": {"b": 2}})
    ['a.b was 1, is 2']
    >>> differences({"variants": {"int8": {}}}, {"variants": {"nf4": {}}})
    ['variants.int8 is gone', 'variants.nf4 is new']
    """
    if isinstance(before, dict) and isinstance(now, dict):
        gone = [f"{path}.{key} is gone".lstrip(".") for key in sorted(before.keys() - now.keys())]
        new = [f"{path}.{key} is new".lstrip(".") for key in sorted(now.keys() - before.keys())]
        shared = sorted(before.keys() & now.keys())
        inner = [differences(before[key], now[key], f"{path}.{key}".lstrip(".")) for key in shared]
        return [*gone, *new, *(found for part in inner for found in part)]
    if before == now:
        return []
    was, is_now = _brief(str(before), str(now))
    return [f"{path} was {was}, is {is_now}"]


def _brief(one: str, other: str) -> tuple[str, str]:
    """Shorten two texts that differ to what shows that they do."""
    shared = next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    start = max(0, shared - 10) if max(len(one), len(other)) > _LONGEST else 0

    def part(text: str) -> str:
        end = start + _LONGEST
        return f"{'...' * (start > 0)}{text[start:end]}{'...' * (len(text) > end)}"

    return part(one), part(other)


def keep_whole_batches(folder: Path, batches: Sequence[Batch]) -> Kept:
    """Drop the outcomes of batches that were cut, and say which batches are whole.

    A cut batch is redone whole, since batch composition can change a result. The file is rewritten in the order
    of the plan, so that a resumed record equals an undisturbed one.
    """
    found: dict[tuple[int, int], list[Outcome]] = defaultdict(list)
    for outcome in load_outcomes(folder):
        found[outcome.repeat, outcome.batch].append(outcome)
    whole = {}
    for batch in batches:
        outcomes = found.get((batch.repeat, batch.number), [])
        if tuple((outcome.suite, outcome.case) for outcome in outcomes) == batch.keys:
            whole[batch.repeat, batch.number] = outcomes
    lines = [dumps(outcome.model_dump(mode="json")) for outcomes in whole.values() for outcome in outcomes]
    write_atomic(folder / OUTCOMES_FILE, "".join(f"{line}\n" for line in lines))
    _keep_scored(folder, list(whole))
    kept = [outcome for outcomes in whole.values() for outcome in outcomes]
    before = load_header(folder)
    measurements = before.measurements.model_copy(
        update={
            # Counted again from what is kept: a crash may lie between the outcomes and the header.
            "prompt_tokens": sum(outcome.prompt_tokens or 0 for outcome in kept),
            "generated_tokens": sum(len(outcome.token_ids) for outcome in kept),
        }
    )
    return Kept(frozenset(whole), len(kept), measurements, before.replay)


def _keep_scored(folder: Path, whole: Sequence[tuple[int, int]]) -> None:
    """Drop what was scored in batches that are redone."""
    if not (folder / SCORED_FILE).exists():
        return
    found: dict[tuple[int, int], list[str]] = {key: [] for key in whole}
    for scored in load_scored(folder):
        found.get((scored.repeat, scored.batch), []).append(dumps(scored.model_dump(mode="json")))
    write_atomic(folder / SCORED_FILE, "".join(f"{line}\n" for lines in found.values() for line in lines))
