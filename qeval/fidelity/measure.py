"""Measure a variant's fidelity while it answers, batch by batch.

The baseline keeps the final hidden states of its answers. A candidate, once the prompts of a batch are in its cache,
follows the baseline's answers and is compared with those states. Where cases run again in other batches, a variant
follows the same answers again and is compared with its own first scoring: its noise floor.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from qeval.engines.base import Answer, Generation, Prompt, Reading
from qeval.engines.transformers import end_token_ids
from qeval.errors import VariantFailed, is_out_of_memory
from qeval.fidelity.output_head import OutputHead, head_of, load_head, save_head
from qeval.fidelity.reference import Key, answer_to, answers_digest, answers_of, places_of
from qeval.fidelity.score import Item, Place, Words, reconstruction_kl, score
from qeval.fidelity.states import StateStore, stored
from qeval.record import RECORD_FILE, FidelityInfo, changed_files, load_header, load_outcomes
from qeval.scored import ScoredAnswer

if TYPE_CHECKING:
    import torch


class Run(NamedTuple):
    """The prompts that run together."""

    repeat: int
    batch: int
    prompts: Sequence[Prompt]


class _Stored(NamedTuple):
    """States on disk."""

    store: StateStore
    places: Mapping[Key, tuple[int, int]]
    """Batch and row of each case's."""


class Measure:
    """Measures one variant, with its loaded model."""

    def __init__(
        self,
        model: Any,  # noqa: ANN401 - transformers is untyped
        tokenizer: Any,  # noqa: ANN401
        record: Path,
        baseline: Path | None,
        again: Collection[Key],
        *,
        tokenizer_hash: str | None = None,
        reverse_kl: bool = False,
    ) -> None:
        """Prepare.

        Args:
            model: the loaded model.
            tokenizer: its tokenizer.
            record: the variant's record folder; its states go there.
            baseline: the baseline's record folder; None where this is the baseline.
            again: the cases that run again.
            tokenizer_hash: of the tokenizer; the baseline's must be the same.
            reverse_kl: whether KL(candidate || baseline) is measured too.

        Raises:
            VariantFailed: the model's logits cannot be made from its output head, the baseline kept no states, or
                the two do not read the same tokens.
        """
        self._record, self._baseline = record, baseline
        self._again = frozenset(again)
        self._reverse_kl = reverse_kl
        self._head = head_of(model)
        self._words = Words(lambda token: str(tokenizer.decode([token])), end_token_ids(model, tokenizer))
        self._own = StateStore(record)
        self._followed: dict[Key, torch.Tensor] = {}
        self._answers: dict[Key, Answer] = {}
        self._theirs: _Stored | None = None
        if baseline is None:
            self._own.head.parent.mkdir(parents=True, exist_ok=True)
            save_head(model, self._own.head)
        else:
            self._device = str(model.device)
            self._theirs = _stored(baseline, tokenizer_hash)
            self._answers = answers_of(load_outcomes(baseline))
            theirs = load_head(self._theirs.store.head, self._device).vocabulary
            if theirs != self._head.vocabulary:
                raise VariantFailed(f"it has {self._head.vocabulary} logits and the baseline {theirs}")

    def on_read(self, run: Run, reading: Reading) -> list[ScoredAnswer]:
        """Score the baseline's answers to prompts that were just read: a batch, or a part of it."""
        if run.repeat == 0 and self._baseline is None:
            return []
        if run.repeat and self._baseline is None:
            # All that runs again has run, and is written down.
            self._answers = answers_of(load_outcomes(self._record))
        rows = [answer_to(self._answers, prompt) for prompt in run.prompts]
        try:
            states = reading.follow(rows)
            scored = self._compare(run, rows, states)
        except (MemoryError, RuntimeError) as error:
            if not is_out_of_memory(error):
                raise
            return [ScoredAnswer(**_where(run, prompt), fault="out_of_memory") for prompt in run.prompts]
        if run.repeat == 0:
            # Only what its own noise floor is measured by, off the device and apart from the states of all.
            for prompt, found in zip(run.prompts, states, strict=True):
                if self._is_again(prompt):
                    self._followed[_key(prompt)] = stored(found).cpu().clone()
        return scored

    def on_answered(self, run: Run, generations: Sequence[Generation]) -> None:
        """Store states: of the baseline's first answers, or those of a candidate that it is scored by again."""
        if run.repeat:
            return
        if self._baseline is not None:
            mine = {row: self._followed.pop(_key(p)) for row, p in enumerate(run.prompts) if _key(p) in self._followed}
            if mine:
                self._own.save(run.batch, mine)
            return
        rows = {
            row: generation.states
            for row, generation in enumerate(generations)
            if generation.status == "answered" and generation.states is not None and len(generation.states)
        }
        # Looked at in one answer of each batch: all would take half as long as scoring them.
        first = next(iter(rows.values()), None)
        changed = None if first is None else reconstruction_kl(self._head, first, stored(first))
        self._own.save(run.batch, rows, changed)

    def info(self) -> FidelityInfo:
        """Return what the record's fidelity rests on; for a record that is complete."""
        answers = self._answers if self._baseline is not None else answers_of(load_outcomes(self._record))
        own = self._baseline is None
        return FidelityInfo(
            reference=answers_digest(answers),
            state_bytes=self._own.state_bytes if own else 0,
            reconstruction_kl=self._own.reconstruction_kl,
        )

    def _is_again(self, prompt: Prompt) -> bool:
        answer = answer_to(self._answers, prompt)
        return _key(prompt) in self._again and answer is not None and answer.positions > 0

    def _compare(self, run: Run, rows: Sequence[Answer | None], states: Sequence[torch.Tensor]) -> list[ScoredAnswer]:
        head, stored_states = self._reference(run)
        items = []
        for prompt, answer, ours in zip(run.prompts, rows, states, strict=True):
            place = stored_states.places.get(_key(prompt))
            theirs = stored_states.store.load(*place) if place is not None else None
            if answer is not None and answer.positions and theirs is not None:
                tools = tuple(tool.name for tool in prompt.case.tools)
                where = Place(prompt.suite, prompt.case.id, run.repeat, run.batch, tools)
                items.append(Item(where, answer, theirs[: answer.positions], ours))
        return score(items, head, self._head, self._words, reverse=self._reverse_kl)

    def _reference(self, run: Run) -> tuple[OutputHead, _Stored]:
        if run.repeat == 0 and self._theirs is not None:
            # For this batch alone: kept, it would count as memory that the variant takes to serve.
            return load_head(self._theirs.store.head, self._device), self._theirs
        return self._head, _Stored(self._own, places_of(load_outcomes(self._record)))


def _stored(baseline: Path, tokenizer_hash: str | None) -> _Stored:
    if not (baseline / RECORD_FILE).exists():
        raise VariantFailed("the baseline has no record")
    store, header = StateStore(baseline), load_header(baseline)
    if header.fidelity is None or not store.head.exists():
        raise VariantFailed("the baseline kept no hidden states")
    if changed := changed_files(baseline, header):
        raise VariantFailed(f"{changed[0]} of the baseline's record is not what it was; resume the run to redo it")
    if header.model.tokenizer_hash != tokenizer_hash:
        raise VariantFailed("its tokenizer is not the baseline's, so the answers' tokens are other words to it")
    return _Stored(store, places_of(load_outcomes(baseline)))


def _key(prompt: Prompt) -> Key:
    return prompt.suite, prompt.case.id


def _where(run: Run, prompt: Prompt) -> dict[str, Any]:
    return {"suite": prompt.suite, "case": prompt.case.id, "repeat": run.repeat, "batch": run.batch}
