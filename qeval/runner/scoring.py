"""Fidelity inside a run: a batch is scored between its reading and its answering, apart from its time and memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from qeval.engines.base import Follow, Generation
from qeval.fidelity.measure import Measure, Run
from qeval.jsonl import append_lines
from qeval.record import SCORED_FILE
from qeval.runner.batches import Batch
from qeval.runner.environment import device_peak_memory_bytes, forget_peak_memory, highest, peak_memory_bytes


class BatchScoring:
    """Scores one batch when its prompts have been read."""

    def __init__(self, measure: Measure | None, batch: Batch, folder: Path, clock: Callable[[], float]) -> None:
        """Prepare; `measure` None scores nothing."""
        self._measure, self._batch, self._folder, self._clock = measure, batch, folder, clock
        self.seconds = 0.0
        """What the scoring took."""
        self.peak_before_bytes: int | None = None
        self.device_peak_before_bytes: int | None = None
        """Peak memory of the process, and of the device, until the scoring began, which adds to them."""

    def on_read(self, follow: Follow) -> None:
        """Score, and write down what was found."""
        if self._measure is None:
            return
        started = self._begin()
        scored = self._measure.on_read(self._run(), follow)
        append_lines(self._folder / SCORED_FILE, [line.model_dump(mode="json") for line in scored])
        self._end(started)

    def on_answered(self, generations: Sequence[Generation]) -> None:
        """Keep the hidden states of a baseline's answers."""
        if self._measure is None:
            return
        started = self._begin()
        self._measure.on_answered(self._run(), generations)
        self._end(started)

    def _begin(self) -> float:
        self.peak_before_bytes = highest(self.peak_before_bytes, peak_memory_bytes())
        self.device_peak_before_bytes = highest(self.device_peak_before_bytes, device_peak_memory_bytes())
        return self._clock()

    def _end(self, started: float) -> None:
        forget_peak_memory()
        self.seconds += self._clock() - started

    def _run(self) -> Run:
        return Run(self._batch.repeat, self._batch.number, self._batch.prompts)
