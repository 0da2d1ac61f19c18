"""Final hidden states of answers on disk: a file a batch, beside the record's outcomes.

In fp16 they take hidden/vocabulary of the logits that they stand for. A state that fp16 cannot hold is kept in fp32.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from qeval.record import STATES_FOLDER

if TYPE_CHECKING:
    import torch

HEAD_FILE = "head.safetensors"
_LARGEST_FP16 = 65_504.0


class StateStore:
    """The states of one record."""

    def __init__(self, record: Path) -> None:
        """Open the store of a record's folder."""
        self.folder = record / STATES_FOLDER

    @property
    def head(self) -> Path:
        """Where the output head lies."""
        return self.folder / HEAD_FILE

    @property
    def state_bytes(self) -> int:
        """Size of all states stored, the head not counted."""
        return sum(path.stat().st_size for path in self.folder.glob("*.states"))

    @property
    def reconstruction_kl(self) -> float | None:
        """The largest of what was stored beside the batches' states, those of an interrupted run too; None for none."""
        from safetensors import safe_open

        found = []
        for path in self.folder.glob("*.states"):
            with safe_open(path, "pt") as file:
                found += [float(value) for value in (file.metadata() or {}).values()]
        return max(found, default=None)

    def save(self, batch: int, rows: Mapping[int, torch.Tensor], reconstruction_kl: float | None = None) -> None:
        """Store the states (positions, hidden) of a batch by row, and what storing changes; whole or not at all."""
        from safetensors.torch import save_file

        path = self._path(batch)
        path.parent.mkdir(parents=True, exist_ok=True)
        beside = path.with_suffix(".tmp")
        beside_them = None if reconstruction_kl is None else {"reconstruction_kl": repr(reconstruction_kl)}
        save_file({str(row): stored(states).cpu().contiguous() for row, states in rows.items()}, beside, beside_them)
        Path(beside).replace(path)

    def load(self, batch: int, row: int) -> torch.Tensor | None:
        """Read the states of one row as they are stored; None where it has none."""
        from safetensors import safe_open

        path = self._path(batch)
        if not path.exists():
            return None
        with safe_open(path, "pt") as file:
            return file.get_tensor(str(row)) if str(row) in file.keys() else None  # noqa: SIM118 - no mapping

    def _path(self, batch: int) -> Path:
        return self.folder.parent / states_name(batch)


def states_name(batch: int) -> str:
    """Return the name, in a record's folder, of the file with the states of a batch of first answers."""
    return f"{STATES_FOLDER}/{batch:05d}.states"


def stored(states: torch.Tensor) -> torch.Tensor:
    """Return states as they are stored: fp16, or fp32 where a value is too large for that."""
    import torch

    fits = bool((states.abs() <= _LARGEST_FP16).all())
    return states.to(torch.float16 if fits else torch.float32)
