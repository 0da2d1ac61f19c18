"""Measure what reading and decoding cost on this machine: the figures of `qeval/engines/work.py`.

    python scripts/measure_device_work.py --model smollm2-135m --device cpu

Prints seconds by size, and the figures that fit them: `pass_tokens` from passes over few and many tokens, `step_rows`
from decode steps of few and many rows, `row_tokens` from steps over short and long caches. Run it alone on the
machine. The figures go into the table by hand, for a kind of device and not for one machine, since they are alike for
all variants and are kept in every record.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from qeval.models.locate import resolve
from qeval.variants import load_variant, parse_variant

ROUNDS = 7
PASS_SIZES = (16, 64, 256, 1024)
ROWS = (1, 8, 32, 64)
LENGTHS = (32, 512, 2048)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="smollm2-135m")
    parser.add_argument("--variant", default="fp32")
    parser.add_argument("--device", default="cpu")
    given = parser.parse_args()
    model = load_variant(parse_variant(given.variant), resolve(given.model), given.device).model
    passes = {size: seconds(partial(read, model, given.device, size)) for size in PASS_SIZES}
    steps = {rows: seconds(step(model, given.device, rows, 32)) for rows in ROWS}
    caches = {length: seconds(step(model, given.device, 32, length)) for length in LENGTHS}
    for title, found in (("pass, tokens", passes), ("step, rows", steps), ("step of 32 rows, cached tokens", caches)):
        print(f"{title}: " + ", ".join(f"{size} {1000 * s:.1f} ms" for size, s in found.items()))
    per_row = slope(steps)
    print(f"pass_tokens {intercept(passes) / slope(passes):.0f}")
    print(f"step_rows {intercept(steps) / per_row:.0f}")
    print(f"row_tokens {per_row / (slope(caches) / 32):.0f}")


def read(model: Any, device: str, tokens: int) -> None:  # noqa: ANN401 - transformers is untyped
    """Read one row of so many tokens."""
    import torch

    with torch.no_grad():
        model.base_model(input_ids=torch.full((1, tokens), 5, device=device), use_cache=True)


def step(model: Any, device: str, rows: int, length: int) -> Callable[[], None]:  # noqa: ANN401
    """Return what decodes one token of so many rows that hold so many tokens."""
    import torch
    from transformers import StaticCache

    cache = StaticCache(config=model.config, max_cache_len=length + 1)
    ids = torch.full((rows, length), 5, device=device)
    with torch.no_grad():
        model.base_model(input_ids=ids, cache=cache, use_cache=True)

    def run() -> None:
        with torch.no_grad():
            model(input_ids=ids[:, :1], cache=cache, use_cache=True)
        for layer in cache.layers:
            layer.crop(-1)

    return run


def seconds(work: Callable[[], None]) -> float:
    """Return the median time of a piece of work, after one that is not counted."""
    work()
    synchronize()
    times = []
    for _ in range(ROUNDS):
        started = time.perf_counter()
        work()
        synchronize()
        times.append(time.perf_counter() - started)
    return statistics.median(times)


def synchronize() -> None:
    """Wait for an accelerator, where there is one."""
    import torch

    if torch.cuda.is_available():
        torch.cuda.synchronize()


def slope(found: dict[int, float]) -> float:
    """Return the seconds of one more, by least squares."""
    return statistics.linear_regression(*columns(found)).slope


def intercept(found: dict[int, float]) -> float:
    """Return the seconds before the first, by least squares."""
    return statistics.linear_regression(*columns(found)).intercept


def columns(found: dict[int, float]) -> tuple[Sequence[int], Sequence[float]]:
    """Return sizes and seconds."""
    return tuple(found), tuple(found.values())


if __name__ == "__main__":
    main()
