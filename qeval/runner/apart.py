"""What a run does beside answering: its time and its memory are no part of the variant's own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from qeval.runner.environment import device_peak_memory_bytes, forget_peak_memory, highest, peak_memory_bytes


class Apart:
    """Measures one batch's work that is not answering."""

    def __init__(self, clock: Callable[[], float]) -> None:
        """Prepare."""
        self._clock = clock
        self.seconds = 0.0
        """What it took."""
        self.peak_before_bytes: int | None = None
        self.device_peak_before_bytes: int | None = None
        """Peak memory of the process, and of the device, until it began, which adds to them."""

    @contextmanager
    def memory(self) -> Iterator[None]:
        """Leave what the block takes out of the variant's peak memory, not its time."""
        self.peak_before_bytes = highest(self.peak_before_bytes, peak_memory_bytes())
        self.device_peak_before_bytes = highest(self.device_peak_before_bytes, device_peak_memory_bytes())
        try:
            yield
        finally:
            forget_peak_memory()

    @contextmanager
    def work(self) -> Iterator[None]:
        """Leave the block out of the variant's time and peak memory."""
        started = self._clock()
        try:
            with self.memory():
                yield
        finally:
            self.seconds += self._clock() - started
