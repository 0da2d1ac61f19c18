"""Fidelity inside a run: a batch is scored between its reading and its answering, apart from its time and memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from qeval.engines.base import Generation, Prompt, Reading
from qeval.fidelity.measure import Measure, Run
from qeval.record import SCORED_FILE, add_lines
from qeval.runner.apart import Apart
from qeval.runner.batches import Batch


class BatchScoring:
    """Scores one batch when its prompts have been read, whole or in parts."""

    def __init__(self, measure: Measure | None, batch: Batch, folder: Path, apart: Apart) -> None:
        """Prepare; `measure` None scores nothing."""
        self._measure, self._batch, self._folder, self._apart = measure, batch, folder, apart
        self.seconds = 0.0
        """What the scoring took."""

    def on_read(self, prompts: Sequence[Prompt], reading: Reading) -> None:
        """Score, and write down what was found."""
        if self._measure is None:
            return
        with self._work():
            scored = self._measure.on_read(self._run(prompts), reading)
            add_lines(self._folder / SCORED_FILE, scored)

    def on_answered(self, generations: Sequence[Generation]) -> None:
        """Keep the hidden states that are scored by later."""
        if self._measure is None:
            return
        with self._work():
            self._measure.on_answered(self._run(self._batch.prompts), generations)

    @contextmanager
    def _work(self) -> Iterator[None]:
        before = self._apart.seconds
        try:
            with self._apart.work():
                yield
        finally:
            self.seconds += self._apart.seconds - before

    def _run(self, prompts: Sequence[Prompt]) -> Run:
        return Run(self._batch.repeat, self._batch.number, prompts)
