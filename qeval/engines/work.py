"""What reading and decoding cost on a kind of device, in counted work: the unit is one token's matrix products.

Batches, chunks and the choice of replay are planned by these figures, so they may change answers in low precision.
They are therefore constants for a kind of device, measured by `scripts/measure_device_work.py` and kept in the record;
never measured while a run starts, when another process could change them.
"""

from __future__ import annotations

from typing import NamedTuple


class Work(NamedTuple):
    """The figures of one kind of device."""

    chunk_tokens: int
    """A pass over prompts reads at most this many tokens, padding included, unless one row alone is longer."""
    pass_tokens: int
    """A pass costs as much as this many tokens before its first: it reads the weights."""
    step_rows: int
    """A decode step costs as much as this many rows before its first: it reads the weights."""
    row_tokens: int
    """A row of this many tokens costs a step as much for reading its cache as for its matrix products."""

    def decode(self, steps: int, rows: int, longest: int) -> float:
        """Return the work of decoding rows of up to `longest` tokens for so many steps."""
        return steps * (self.step_rows + rows * (1 + longest / self.row_tokens))

    def read(self, rows: int, longest: int) -> float:
        """Return the work of one pass over rows padded to `longest` tokens."""
        return self.pass_tokens + rows * longest


_WORK = {
    # Two cores with AVX2, SmolLM2-135M in fp32.
    "cpu": Work(chunk_tokens=1024, pass_tokens=80, step_rows=35, row_tokens=300),
    # Not measured: from a roofline of 989 TFLOPS and 4.8 TB/s, an 8B model in bf16 with 131 kB of cache per token.
    "cuda": Work(chunk_tokens=8192, pass_tokens=206, step_rows=206, row_tokens=600),
    # Not measured: as on a CPU, with larger chunks.
    "mps": Work(chunk_tokens=2048, pass_tokens=80, step_rows=35, row_tokens=300),
}


def work_on(device: str) -> Work:
    """Return the figures for a device, such as `cuda:1`.

    >>> work_on("cuda:1") == work_on("cuda") != work_on("cpu")
    True
    """
    return _WORK[device.partition(":")[0]]
