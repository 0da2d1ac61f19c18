"""The headers of safetensors files: names, types and shapes of tensors, without reading weights or importing torch."""

from __future__ import annotations

import math
from pathlib import Path
from typing import NamedTuple

from qeval.errors import UsageError


class TensorHeader(NamedTuple):
    """What a file says of one tensor."""

    dtype: str
    """As the file writes it: `F32`, `BF16`, `F8_E4M3`, `U8`."""
    shape: tuple[int, ...]

    @property
    def elements(self) -> int:
        """Number of values."""
        return math.prod(self.shape)


def tensor_headers(folder: Path) -> dict[str, TensorHeader]:
    """Return the header of every tensor in a folder's safetensors files by name; none where it has no such files.

    Raises:
        UsageError: a file is cut short or damaged.
    """
    from safetensors import SafetensorError, safe_open

    found = {}
    for path in sorted(folder.glob("*.safetensors")):
        try:
            with safe_open(path, framework="numpy") as file:
                for name in file.keys():  # noqa: SIM118 - not a mapping
                    tensor = file.get_slice(name)
                    found[name] = TensorHeader(tensor.get_dtype(), tuple(tensor.get_shape()))
        except (SafetensorError, OSError) as error:
            raise UsageError(
                f"{path}: not a whole safetensors file ({error}). Fetch or save the model again."
            ) from error
    return found
