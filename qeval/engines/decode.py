"""Decode rows that were read: with transformers' generate(), each to its own limit, end token or stop text.

Logits that are NaN or infinite end their row with the position; the other rows of the batch go on.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from qeval.engines.base import Generation, OnStep, Prompt
from qeval.engines.detokenize import Detokenizer
from qeval.engines.follow import Read
from qeval.engines.guard import end_finder, guard_rows
from qeval.engines.limits import Limit
from qeval.engines.sampling import decoding_settings
from qeval.marks import without
from qeval.outcome import FailedAnswer


class RowResult(NamedTuple):
    """The tokens one row generated, before they become text."""

    token_ids: list[int]
    ended: bool
    """Whether an end token was reached within the row's limit."""
    bad_position: int | None
    """Index of the first generated token whose logits were NaN or infinite."""
    states: Any = None


class Decoder:
    """Decodes with one model; an answer may have begun already."""

    def __init__(
        self,
        model: Any,  # noqa: ANN401 - transformers is untyped
        tokenizer: Any,  # noqa: ANN401
        end_ids: Sequence[int],
        pad_id: int,
        temperature: float,
        *,
        keep_states: bool,
    ) -> None:
        """Prepare; `temperature` 0 is greedy, and `keep_states` keeps what the output head is given."""
        self._model = model
        self._detokenizer = Detokenizer(tokenizer)
        self._bos_id = tokenizer.bos_token_id
        self.end_ids = tuple(end_ids)
        self._pad_id = pad_id
        self._temperature = temperature
        self._keep_states = keep_states

    def decode(
        self, read: Read, prompts: Sequence[Prompt], on_step: OnStep, begun: Sequence[Sequence[int]] | None = None
    ) -> list[RowResult]:
        """Decode each row to its end.

        Args:
            read: what was read, the tokens that have begun the answers among it.
            prompts: one a row.
            on_step: told of tokens as they come.
            begun: for each row the tokens its answer begins with; none by default.
        """
        import torch
        from transformers import LogitsProcessorList, StoppingCriteriaList

        begun = begun or [()] * len(prompts)
        left = max(prompt.max_tokens - len(before) for prompt, before in zip(prompts, begun, strict=True))
        width = read.ids.shape[1]
        guard = guard_rows(width, prompts, self._detokenizer, on_step, begun)
        # Not inference_mode: quanto's int4 kernels write to tensors it forbids to change.
        with torch.no_grad(), _last_states(self._model, keep=self._keep_states) as steps:
            output = self._model.generate(
                input_ids=read.ids,
                attention_mask=read.mask,
                **({} if read.cache is None else {"cache": read.cache}),
                generation_config=self._config(left),
                logits_processor=LogitsProcessorList([guard.watch]),
                stopping_criteria=StoppingCriteriaList([guard.stop]),
            )
        generated = output[:, width:].tolist()
        rows = [
            _cut([*before, *tokens], self._limit(prompt, [*before, *tokens]), self.end_ids, bad, stopped)
            for before, tokens, prompt, bad, stopped in zip(
                begun, generated, prompts, guard.bad_positions, guard.stopped_at, strict=True
            )
        ]
        if not steps:
            return rows
        states = torch.stack(steps, dim=1)
        # A stop text is complete with its last token, and no end token was chosen after it.
        return [
            row._replace(states=states[index, : len(row.token_ids) + (row.ended and stopped is None)])
            for index, (row, stopped) in enumerate(zip(rows, guard.stopped_at, strict=True))
        ]

    def end_of(self, tokens: Sequence[int], prompt: Prompt, *, by_token: bool) -> bool | None:
        """Return whether an answer of these tokens ended by itself, False at its limit, None where it goes on."""
        has_stopped = end_finder(self._detokenizer, prompt.case.stop)
        if by_token or (has_stopped is not None and has_stopped(tokens)):
            return True
        return False if len(tokens) >= self._limit(prompt, tokens) else None

    def _limit(self, prompt: Prompt, tokens: Sequence[int]) -> int:
        return Limit(prompt, self._detokenizer).at(tokens)

    def generation(self, row: RowResult) -> Generation:
        """Turn the tokens of a row into its answer."""
        if row.bad_position is not None:
            detail = f"logits of generated token {row.bad_position} are NaN or infinite"
            return Generation(status="numeric_error", detail=detail)
        words = self._detokenizer.words(row.token_ids, ended=row.ended)
        failure: FailedAnswer | None = None if row.ended or words.turn_ended else "truncated"
        if not without(words.text, words.special).strip():
            failure = "empty"
        return Generation(
            text=words.text,
            special=words.special,
            token_ids=tuple(row.token_ids),
            finish="stop" if row.ended else "length",
            failure=failure,
            states=row.states,
        )

    def _config(self, max_new_tokens: int) -> Any:  # noqa: ANN401 - a transformers GenerationConfig
        from transformers import GenerationConfig

        config = GenerationConfig(
            **decoding_settings(self._temperature),
            # A compiled step would be another program than the one that read the prompts.
            disable_compile=True,
            max_new_tokens=max_new_tokens,
            eos_token_id=list(self.end_ids) or None,
            pad_token_id=self._pad_id,
            bos_token_id=self._bos_id,
        )
        # generate() fills what its argument leaves open from the model's own config: sampling, penalties, forced
        # tokens. Giving the model the same config leaves nothing to fill in.
        self._model.generation_config = config
        return config


@contextmanager
def _last_states(model: Any, *, keep: bool) -> Iterator[list[Any]]:  # noqa: ANN401
    """Collect what the output head is given at every step, shape (rows, hidden), while the block runs."""
    steps: list[Any] = []
    if not keep:
        yield steps
        return
    # Before other hooks, of which one may change what the head computes in.
    hook = model.get_output_embeddings().register_forward_pre_hook(
        lambda _, given: steps.append(given[0][:, -1].clone()), prepend=True
    )
    try:
        yield steps
    finally:
        hook.remove()


def _cut(
    tokens: list[int], limit: int, end_ids: tuple[int, ...], bad: int | None, stopped: int | None = None
) -> RowResult:
    """Cut a row at its limit, behind the token that completed a stop text, and before its first end token.

    >>> _cut([10, 11, 128009, 12, 13], 5, (128001, 128009), None)
    RowResult(token_ids=[10, 11], ended=True, bad_position=None, states=None)
    >>> _cut([10, 11, 12], 2, (9,), None).ended
    False
    """
    limit = limit if stopped is None else stopped
    tokens = tokens[:limit]
    ends = [position for position, token in enumerate(tokens) if token in end_ids]
    kept = tokens[: ends[0]] if ends else tokens
    # A row that had ended, or was at its limit, is only carried along; its later logits mean nothing.
    happened = bad if bad is not None and bad < (len(kept) + 1 if ends else limit) else None
    return RowResult(kept, bool(ends) or stopped is not None, happened)
