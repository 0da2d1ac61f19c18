"""Taking over an interrupted record: what may be kept, and when it must be refused."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from qeval.errors import UsageError
from qeval.fidelity.states import states_name
from qeval.jsonl import complete_lines
from qeval.outcome import Outcome
from qeval.record import (
    OUTCOMES_FILE,
    SCORED_FILE,
    Measurements,
    RecordHeader,
    Replay,
    changed_files,
    load_header,
    load_outcomes,
    load_scored,
    save_lines,
)
from qeval.runner.batches import Batch
from qeval.scored import ScoredAnswer

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
    "content",
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


def keep_whole_batches(folder: Path, batches: Sequence[Batch], scores: Callable[[int], bool] = lambda _: False) -> Kept:
    """Drop the outcomes of batches that were cut or damaged, and say which batches are whole.

    Such a batch is redone whole, since batch composition can change a result. The files are rewritten in the order of
    the plan, so that a resumed record equals an undisturbed one.

    Args:
        folder: the record's.
        batches: all batches of the run.
        scores: whether the answers of a repeat are scored in this run.
    """
    before = load_header(folder)
    changed = set(changed_files(folder, before))
    found: dict[tuple[int, int], list[Outcome]] = defaultdict(list)
    for outcome in load_outcomes(folder, "drop"):
        found[outcome.repeat, outcome.batch].append(outcome)
    scored = _scored_by_batch(folder)
    scores_are_damaged = SCORED_FILE in changed or _has_damaged_lines(folder, scored)
    whole = {}
    for batch in batches:
        key = (batch.repeat, batch.number)
        outcomes = found.get(key, [])
        if tuple((outcome.suite, outcome.case) for outcome in outcomes) != batch.keys:
            continue
        states_are_gone = not batch.repeat and states_name(batch.number) in changed
        # Not every answer is scored, so a batch may be redone that was whole: the result is the same.
        unscored = scores_are_damaged and scores(batch.repeat) and len(scored[key]) < len(outcomes)
        if not states_are_gone and not unscored:
            whole[key] = outcomes
    kept = [outcome for outcomes in whole.values() for outcome in outcomes]
    save_lines(folder / OUTCOMES_FILE, kept)
    if (folder / SCORED_FILE).exists():
        save_lines(folder / SCORED_FILE, [one for key in whole for one in scored[key]])
    measurements = before.measurements.model_copy(
        update={
            # Counted again from what is kept: a crash may lie between the outcomes and the header.
            "prompt_tokens": sum(outcome.prompt_tokens or 0 for outcome in kept),
            "generated_tokens": sum(len(outcome.token_ids) for outcome in kept),
        }
    )
    return Kept(frozenset(whole), len(kept), measurements, before.replay)


def put_in_order(folder: Path, batches: Sequence[Batch]) -> None:
    """Rewrite a record's lines in the order of the plan: batches that were redone were added at the end."""
    found: dict[tuple[int, int], list[Outcome]] = defaultdict(list)
    for outcome in load_outcomes(folder):
        found[outcome.repeat, outcome.batch].append(outcome)
    order = [(batch.repeat, batch.number) for batch in batches]
    save_lines(folder / OUTCOMES_FILE, [outcome for key in order for outcome in found[key]])
    if (folder / SCORED_FILE).exists():
        scored = _scored_by_batch(folder)
        save_lines(folder / SCORED_FILE, [one for key in order for one in scored[key]])


def _scored_by_batch(folder: Path) -> dict[tuple[int, int], list[ScoredAnswer]]:
    found: dict[tuple[int, int], list[ScoredAnswer]] = defaultdict(list)
    for scored in load_scored(folder, "drop"):
        found[scored.repeat, scored.batch].append(scored)
    return found


def _has_damaged_lines(folder: Path, scored: Mapping[tuple[int, int], Sequence[ScoredAnswer]]) -> bool:
    return sum(1 for _ in complete_lines(folder / SCORED_FILE)) > sum(map(len, scored.values()))
