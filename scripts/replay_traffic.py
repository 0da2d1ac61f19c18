"""Count what replay reads from memory beside plain decoding: `python scripts/replay_traffic.py RUN [--batch 1,2,4,8]`.

For a device bound by memory: a pass over a batch reads the weights once and the keys and values of every row, whatever
it computes. RUN is the folder of a finished run of `qeval run --decode plain` (or any other: only its answers count).
For each candidate the answers are taken as they are; batches hold cases of like length, as many as said. Prompts are
read in one pass by both; replay adds one pass over the baseline's answer, and steps only from the first difference.
Prints a Markdown table: bytes read by replay over bytes read by plain decoding, whole run and answering alone.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from qeval.jsonl import loads, read_text
from qeval.models.locate import resolve
from qeval.outcome import Outcome
from qeval.record import Record, load_record
from qeval.runner.run import PLAN_FILE, RECORDS_FOLDER


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


def table(run: Path, batches: Sequence[int]) -> Iterator[str]:
    """Yield the lines."""
    plan = loads(read_text(run / PLAN_FILE))
    model = resolve(plan["plan"]["model"])
    records = {
        folder.name: load_record(folder) for folder in sorted((run / RECORDS_FOLDER).iterdir()) if folder.is_dir()
    }
    first = next(name for name, record in records.items() if record.header.replay is None)
    yield "| candidate | agreed prefix | " + " | ".join(f"batch {size}" for size in batches) + " |"
    yield "|---|---|" + "---|" * len(batches)
    for name, record in records.items():
        if name == first or record.header.proof is None:
            continue
        rows = rows_of(records[first], record)
        token = token_bytes(model.path, 2 if record.header.format.startswith(("bf16", "fp16")) else 4)
        share = sum(row.agreed for row in rows) / sum(row.baseline for row in rows)
        cells = []
        for size in batches:
            parts = [traffic(part, record.header.proof.storage_bytes, token) for part in batched_rows(rows, size)]
            reading, plain, replay = (sum(values) for values in zip(*parts, strict=True))
            cells.append(f"{replay / plain:.0%} ({(reading + replay) / (reading + plain):.0%})")
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
    for line in table(given.run, [int(size) for size in given.batch.split(",")]):
        print(line)


if __name__ == "__main__":
    main()
