"""Verified replay: another variant's answer stands as far as this one would have chosen the same, token by token.

The answer was followed as a second chunk into the batch's cache. Where every choice agrees, it is this variant's answer
too; else decoding goes on from the first difference, on those rows of the cache alone, each moved to the right edge.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from qeval.engines.base import Answer, Generation, OnStep, Prompt
from qeval.engines.decode import Decoder, RowResult
from qeval.engines.follow import Read, follow
from qeval.engines.prefill import Prefill

if TYPE_CHECKING:
    import torch

POSITIONS_AT_ONCE = 128
"""Positions whose logits are in memory at once: 25 MB in fp32 at a vocabulary of 50,000."""
_FIRST_WINDOW = 8
"""Positions of each row that are looked at first; then twice as many of the rows that agree so far, and so on."""


class BatchReading:
    """A batch whose prompts were read; what `on_read` is given."""

    def __init__(self, model: Any, prefill: Prefill, decoder: Decoder, read: Read, prompts: Sequence[Prompt]) -> None:  # noqa: ANN401
        """Hold what was read."""
        self._model, self._prefill, self._decoder, self._read, self._prompts = model, prefill, decoder, read, prompts
        self._answers: Sequence[Answer | None] = [None] * len(prompts)
        self._states: list[torch.Tensor] = []
        self.followed = self._touched = False

    def follow(self, answers: Sequence[Answer | None]) -> list[torch.Tensor]:
        """Return for each prompt the final hidden states, shape (positions, hidden), that predict an answer to it."""
        self._touched = True
        self._states = follow(self._model, self._read, [_inputs(answer) for answer in answers])
        self._answers, self.followed = answers, True
        return self._states

    def forget(self) -> None:
        """Leave nothing of what was followed: a broken number behind the end would break the rows that read over it."""
        if not self._touched or self._read.cache is None:
            return
        end = self._read.ids.shape[1] - 1
        for layer in self._read.cache.layers:
            for values in (layer.keys, layer.values):
                values[:, :, end:].zero_()

    def replay(self, on_step: OnStep) -> list[Generation]:
        """Answer the prompts along what was followed last: as far as each choice is the same, and decode from there."""
        import torch

        if self._read.cache is None:
            # Prompts of one token: nothing was read that could be moved.
            return [self._decoder.generation(row) for row in self._decoder.decode(self._read, self._prompts, on_step)]
        with torch.no_grad():
            agreed = agreed_positions(
                self._model.get_output_embeddings(), self._states, self._answers, self._decoder.end_ids
            )
        begun = {
            row: answer.tokens[:n] if answer else ()
            for row, (answer, n) in enumerate(zip(self._answers, agreed, strict=True))
        }
        rows = {row: self._ended(row, tokens, agreed[row]) for row, tokens in begun.items()}
        on_step(sum(len(begun[row] if found is None else found.token_ids) for row, found in rows.items()))
        going = {row: begun[row] for row, found in rows.items() if found is None}
        if going:
            prompts = [self._prompts[row] for row in going]
            decoded = self._decoder.decode(self._realigned(going), prompts, on_step, list(going.values()))
            rows.update(zip(going, decoded, strict=True))
        return [self._decoder.generation(found) for found in rows.values() if found is not None]

    def _ended(self, row: int, tokens: Sequence[int], agreed: int) -> RowResult | None:
        """Return a row whose answer is complete with what agrees, None where it goes on."""
        # The other variant may go on behind a token that ends this one's answers.
        end = next((at for at, token in enumerate(tokens) if token in self._decoder.end_ids), None)
        tokens = tokens[:end]
        ended = self._decoder.end_of(tokens, self._prompts[row], by_token=end is not None or agreed > len(tokens))
        return None if ended is None else RowResult(list(tokens), ended, None)

    def _realigned(self, begun: dict[int, tuple[int, ...]]) -> Read:
        """Return some rows, with the tokens their answers begin with, as a batch of its own."""
        from transformers import StaticCache

        width = self._read.ids.shape[1]
        lengths = self._read.mask.sum(dim=1).tolist()
        ids = self._read.ids.tolist()
        prompts = {row: tuple(ids[row][width - lengths[row] :]) for row in begun}
        kept = {row: lengths[row] - 1 + len(tokens) for row, tokens in begun.items()}
        left = max(self._prompts[row].max_tokens - len(tokens) for row, tokens in begun.items())
        cache = StaticCache(config=self._model.config, max_cache_len=max(kept.values()) + 1 + left)
        starts = {row: width - lengths[row] for row in begun}
        # What was followed stands right behind the prompt, and cutting the cache left it there.
        for index, layer in enumerate(self._read.cache.layers):
            cache.update(_moved(layer.keys, starts, kept), _moved(layer.values, starts, kept), index)
        return Read(*self._prefill.pad([prompts[row] + tokens for row, tokens in begun.items()]), cache)


def agreed_positions(
    head: Callable[[torch.Tensor], torch.Tensor],
    states: Sequence[torch.Tensor],
    answers: Sequence[Answer | None],
    end_ids: Sequence[int],
) -> list[int]:
    """Return for each row how many positions of its answer, from the first, the head would choose the same.

    A choice among logits that are not all finite is no choice, and agrees with nothing. The head is asked only as far
    as rows agree.

    Args:
        head: the variant's own output head: hidden states (positions, hidden) to logits (positions, vocabulary), up to
            what keeps their order.
        states: for each row, one a position.
        answers: for each row; None agrees nowhere.
        end_ids: any of these is the end token.
    """
    agreed = [0] * len(states)
    alive = [row for row, answer in enumerate(answers) if answer is not None and answer.positions]
    start, width = 0, _FIRST_WINDOW
    while alive:
        parts = [states[row][start : start + width] for row in alive]
        choices = iter(_choices(head, parts))
        going = []
        for row, part in zip(alive, parts, strict=True):
            same = [_agrees(answers[row], start + at, next(choices), end_ids) for at in range(len(part))]
            agreed[row] += same.index(False) if False in same else len(same)
            if all(same) and len(states[row]) > start + width:
                going.append(row)
        alive, start, width = going, start + width, 2 * width
    return agreed


def _choices(head: Callable[[torch.Tensor], torch.Tensor], parts: Sequence[torch.Tensor]) -> list[int]:
    """Return the greedy choice at each position, -1 where logits are not finite."""
    import torch

    found: list[int] = []
    for piece in torch.cat(list(parts)).split(POSITIONS_AT_ONCE):
        logits = head(piece)
        finite = torch.isfinite(logits).all(dim=-1)
        found += torch.where(finite, logits.argmax(dim=-1), -1).tolist()
    return found


def _agrees(answer: Answer | None, position: int, choice: int, end_ids: Sequence[int]) -> bool:
    if answer is None:
        return False
    return choice in end_ids if position == len(answer.tokens) else choice == answer.tokens[position]


def _inputs(answer: Answer | None) -> tuple[int, ...]:
    """Return tokens of which all but the last are shown to the model: one a position."""
    if answer is None:
        return ()
    # The end token is predicted and never shown, so any number stands for it.
    return (*answer.tokens, 0) if answer.ended else answer.tokens


def _moved(values: torch.Tensor, starts: dict[int, int], kept: dict[int, int]) -> torch.Tensor:
    """Take so many tokens of some rows of (rows, heads, tokens, width) and set each against the right edge."""
    longest = max(kept.values())
    moved = values.new_zeros(len(kept), values.shape[1], longest, values.shape[3])
    for place, (row, length) in enumerate(kept.items()):
        moved[place, :, longest - length :] = values[row, :, starts[row] : starts[row] + length]
    return moved
