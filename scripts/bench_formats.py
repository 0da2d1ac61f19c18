"""Time reading and decoding of the embedded model by format: `python scripts/bench_formats.py [FORMAT ...]`.

Prints a Markdown table: tokens a second while reading prompts of two shapes, and seconds of one decode step by rows of
a batch, each beside its ratio to the first format. Each figure is the median of several passes; formats take turns, so
that a slow spell of the machine meets all. The costs in `runner/batches.py` and `engines/prefill.py` (how many rows a
step, how many tokens a pass costs before its first) come from here.
"""

from __future__ import annotations

import argparse
import logging
import statistics
import time

import torch
from transformers import DynamicCache

from qeval.models.locate import resolve
from qeval.variants.load import load_variant
from qeval.variants.spec import parse_variant

SHAPES = ((1, 64), (4, 256))
"""(rows, tokens) of a pass."""
ROWS = (1, 8, 32)
TOKENS_BEFORE = 200
N_STEPS = 5


def read(model: torch.nn.Module, rows: int, tokens: int) -> tuple[float, DynamicCache, torch.Tensor]:
    """Read random prompts; return seconds, the cache and the next token of each row."""
    ids = torch.randint(5, 40_000, (rows, tokens))
    cache = DynamicCache(config=model.config)
    started = time.perf_counter()
    output = model(input_ids=ids, cache=cache, use_cache=True, logits_to_keep=1)
    return time.perf_counter() - started, cache, output.logits[:, -1:].argmax(-1)


def step_seconds(model: torch.nn.Module, rows: int) -> float:
    """Return the median time of a decode step."""
    _, cache, token = read(model, rows, TOKENS_BEFORE)
    times = []
    for _ in range(N_STEPS):
        started = time.perf_counter()
        output = model(input_ids=token, cache=cache, use_cache=True)
        times.append(time.perf_counter() - started)
        token = output.logits[:, -1:].argmax(-1)
    return statistics.median(times)


def main() -> None:
    """Load every format, measure in turns, print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("formats", nargs="*", default=["fp32", "bf16", "int8", "nf4"])
    parser.add_argument("--model", default="smollm2-135m")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--turns", type=int, default=3)
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    torch.manual_seed(0)
    logging.getLogger("bitsandbytes").setLevel(logging.ERROR)
    resolved = resolve(given.model)
    models = {name: load_variant(parse_variant(name), resolved, "cpu").model.eval() for name in given.formats}
    found: dict[tuple[str, str], list[float]] = {}
    with torch.no_grad():
        for model in models.values():
            # The first pass of a format sets things up and is slow.
            read(model, 1, 64)
        for _ in range(given.turns):
            for name, model in models.items():
                for rows, tokens in SHAPES:
                    found.setdefault((name, f"read {rows} x {tokens}, tok/s"), []).append(
                        rows * tokens / read(model, rows, tokens)[0]
                    )
                for rows in ROWS:
                    found.setdefault((name, f"step of {rows} rows, s"), []).append(step_seconds(model, rows))
    columns = list(dict.fromkeys(column for _, column in found))
    print(f"| format | {' | '.join(columns)} |\n|---|{'---|' * len(columns)}")
    for name in given.formats:
        middle = {column: statistics.median(found[name, column]) for column in columns}
        first = {column: statistics.median(found[given.formats[0], column]) for column in columns}
        cells = [f"{middle[column]:.3g} ({middle[column] / first[column]:.2f})" for column in columns]
        print(f"| {name} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
