"""What replay did and would save, of a finished run: `python scripts/replay_table.py RUN [--batch 1,2,4,8]`.

RUN is the folder of a `qeval run`. Prints two Markdown tables. The first is what each candidate's pilot found and
chose. The second counts what replay reads from memory beside plain decoding, for a device bound by memory: a pass over
a batch reads the weights once and the keys and values of every row, whatever it computes. The answers are the run's;
batches hold cases of like length, as many as said. Prompts are read in one pass by both; replay adds one pass over the
baseline's answer, and steps only from the first difference. A cell is bytes read by replay over bytes read by plain
decoding: answering alone, and with the reading of prompts.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from qeval.jsonl import loads, read_text
from qeval.models.locate import resolve
from qeval.outcome import Outcome
from qeval.record import Record, load_record
from qeval.runner.claim import PLAN_FILE, RECORDS_FOLDER
from qeval.units import percent


class Row(NamedTuple):
    """A case: lengths in tokens."""

    prompt: int
    baseline: int
    own: int
    agreed: int
    """Tokens of the baseline's answer before the first that differs."""
    ends: bool
    """Whether an end token follows its answer: one step more."""

    @property
    def steps(self) -> int:
        """Steps of plain decoding."""
        return self.own + self.ends

    @property
    def left(self) -> int:
        """Steps that replay takes; none where all agree."""
        return 0 if self.agreed == self.own == self.baseline else self.steps - self.agreed


class Traffic(NamedTuple):
    """Bytes."""

    reading: int
    plain: int
    replay: int


def rows_of(baseline: Record, candidate: Record) -> list[Row]:
    """Pair the first answers of two records, longest first."""
    theirs = baseline.by_case()
    found = [_row(theirs[key], own) for key, own in candidate.by_case().items() if own.answered and key in theirs]
    return sorted(found, key=lambda row: (-row.own, -row.prompt))


def _row(theirs: Outcome, own: Outcome) -> Row:
    pairs = zip(theirs.token_ids, own.token_ids, strict=False)
    shared = min(len(theirs.token_ids), len(own.token_ids))
    agreed = next((at for at, (one, other) in enumerate(pairs) if one != other), shared)
    return Row(own.prompt_tokens or 0, len(theirs.token_ids), len(own.token_ids), agreed, own.finish == "stop")


def traffic(rows: Sequence[Row], weights: int, token: int) -> Traffic:
    """Count a batch: `weights` bytes a pass, `token` bytes of keys and values a token and row."""

    def steps(n: int, lengths: Sequence[int]) -> int:
        """Passes of one token each, over rows of so many tokens before the first."""
        return sum(weights + token * sum(length + step for length in lengths) for step in range(n))

    prompts = [row.prompt for row in rows]
    going = [row for row in rows if row.left]
    follow = weights + token * sum(row.prompt + row.baseline for row in rows)
    rest = steps(max((row.left for row in going), default=0), [row.prompt + row.agreed for row in going])
    return Traffic(weights + token * sum(prompts), steps(max(row.steps for row in rows), prompts), follow + rest)


def token_bytes(model: Path, width: int) -> int:
    """Return bytes of a token's keys and values, `width` a number."""
    config = json.loads((model / "config.json").read_text(encoding="utf-8"))
    heads = config.get("num_key_value_heads", config["num_attention_heads"])
    size = config.get("head_dim") or config["hidden_size"] // config["num_attention_heads"]
    return int(2 * config["num_hidden_layers"] * heads * size * width)


def pilots(records: Mapping[str, Record]) -> Iterator[str]:
    """Yield the lines of the first table."""
    yield "| candidate | replay, plain, s | agreed prefix | tokens as plain | choice |"
    yield "|---|---|---|---|---|"
    for name, record in records.items():
        replay, times = record.header.replay, record.header.measurements.pilot
        if replay is None:
            continue
        cells = ["n/a"] * 3
        if replay.pilot is not None and times is not None:
            pilot = replay.pilot
            cells = [
                f"{times.follow_s + times.replay_s:.1f}, {times.plain_s:.1f}",
                percent(pilot.agreed_positions / pilot.positions if pilot.positions else None),
                f"{pilot.same} of {pilot.n_cases}",
            ]
        yield f"| {name} | {' | '.join(cells)} | {replay.chosen}: {replay.why} |"


def traffics(records: Mapping[str, Record], model: Path, batches: Sequence[int]) -> Iterator[str]:
    """Yield the lines of the second table."""
    yield "| candidate | agreed prefix | " + " | ".join(f"batch {size}" for size in batches) + " |"
    yield "|---|---|" + "---|" * len(batches)
    baseline = next(record for record in records.values() if record.header.replay is None)
    for name, record in records.items():
        if record is baseline or record.header.proof is None or record.header.proof.storage_bytes is None:
            continue
        rows = rows_of(baseline, record)
        token = token_bytes(model, 2 if record.header.format.startswith(("bf16", "fp16")) else 4)
        share = sum(row.agreed for row in rows) / sum(row.baseline for row in rows)
        cells = []
        for size in batches:
            parts = [traffic(part, record.header.proof.storage_bytes, token) for part in batched_rows(rows, size)]
            reading, plain, replay = (sum(values) for values in zip(*parts, strict=True))
            cells.append(f"{replay / plain:.0%}, {(reading + replay) / (reading + plain):.0%}")
        yield f"| {name} | {share:.0%} | " + " | ".join(cells) + " |"


def batched_rows(rows: Sequence[Row], size: int) -> Iterator[Sequence[Row]]:
    """Cut rows into batches."""
    for start in range(0, len(rows), size):
        yield rows[start : start + size]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path)
    parser.add_argument("--batch", default="1,2,4,8", help="rows of a batch, comma-separated")
    given = parser.parse_args()
    plan = loads(read_text(given.run / PLAN_FILE))
    folders = [folder for folder in sorted((given.run / RECORDS_FOLDER).iterdir()) if folder.is_dir()]
    records = {folder.name: load_record(folder) for folder in folders}
    sizes = [int(size) for size in given.batch.split(",")]
    for line in (*pilots(records), "", *traffics(records, resolve(plan["plan"]["model"]).path, sizes)):
        print(line)


if __name__ == "__main__":
    main()
