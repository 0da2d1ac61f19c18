"""The transformers engine: decoding with a loaded model in this process.

Decoding is greedy, or samples at a temperature, whatever the model's own generation_config says. Rows are padded on
the left with a mask, so a pad token that equals the end token ends nothing. Each row stops at its own limit, at any
of the model's end tokens, or where its text holds a stop text of its case. Logits that are NaN or infinite end their
row as `numeric_error` with the position; the other rows of the batch go on.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from qeval.engines.base import Generation, OnRead, OnStep, Prompt
from qeval.engines.batch_mates import largest_move
from qeval.engines.follow import Read, follow
from qeval.engines.guard import guard_rows
from qeval.engines.prefill import Prefill
from qeval.engines.render import Renderer, probe
from qeval.engines.sampling import decoding_settings
from qeval.errors import is_out_of_memory
from qeval.evidence import ComparabilityLevel, Rendering
from qeval.outcome import FailedAnswer
from qeval.suites.case import Case


class RowResult(NamedTuple):
    """The tokens one row generated, before they become text."""

    token_ids: list[int]
    ended: bool
    """Whether an end token was reached within the row's limit."""
    bad_position: int | None
    """Index of the first generated token whose logits were NaN or infinite."""
    states: Any = None


class TransformersEngine:
    """Answers prompts with a loaded transformers model."""

    name = "transformers"
    level: ComparabilityLevel = "token_ids"

    def __init__(
        self,
        model: Any,  # noqa: ANN401 - transformers is untyped
        tokenizer: Any,  # noqa: ANN401
        device: str,
        temperature: float = 0,
        *,
        keep_states: bool = False,
    ) -> None:
        """Prepare a loaded model and its tokenizer for decoding; `temperature` 0 is greedy."""
        self._model = model.eval()
        self._tokenizer = tokenizer
        self._device = device
        self._temperature = temperature
        self._keep_states = keep_states
        self._end_ids = end_token_ids(model, tokenizer)
        self._pad_id = _pad_id(tokenizer, self._end_ids)
        self._prefill = Prefill(self._model, self._pad_id, device)
        pad_token = tokenizer.convert_ids_to_tokens(self._pad_id)
        self._renderer: Renderer = probe(tokenizer, self._end_ids, pad_token)
        self.rendering: Rendering = self._renderer.rendering
        self._full_attention = _attends_to_everything(model)
        self.context_tokens: int | None = getattr(model.config.get_text_config(), "max_position_embeddings", None)

    def render(self, suite: str, case: Case) -> Prompt:
        """Turn a case into the prompt the model reads."""
        text = self._renderer.text(case)
        return Prompt(suite, case, self._renderer.token_ids(text), text)

    def set_threads(self, threads: int) -> None:
        """Compute with so many CPU threads from now on."""
        import torch

        torch.set_num_threads(threads)

    def answer(self, prompts: Sequence[Prompt], on_step: OnStep, on_read: OnRead | None = None) -> list[Generation]:
        """Answer a batch, in order.

        A batch that does not fit in memory gives `out_of_memory` for each of its cases.
        """
        try:
            read = self._read(prompts)
            if on_read is not None:
                on_read(lambda targets: follow(self._model, read, targets))
            rows = self._decode(read, prompts, on_step)
        except (MemoryError, RuntimeError) as error:
            if not is_out_of_memory(error):
                raise
            return [Generation(status="out_of_memory", detail=f"batch of {len(prompts)}: {error}") for _ in prompts]
        return [self._generation(row) for row in rows]

    def batch_mates(self, seed: int) -> float | None:
        """Run the batch-mate test on seeded token ids; None where logits are not finite."""
        return largest_move(self._model, self._device, seed)

    def _decode(self, read: Read, prompts: Sequence[Prompt], on_step: OnStep) -> list[RowResult]:
        import torch
        from transformers import LogitsProcessorList, StoppingCriteriaList

        limits = [prompt.case.max_new_tokens for prompt in prompts]
        width = read.ids.shape[1]
        guard = guard_rows(width, [prompt.case for prompt in prompts], self._tokenizer, on_step)
        # Not inference_mode: quanto's int4 kernels write to tensors it forbids to change.
        with torch.no_grad(), _last_states(self._model, keep=self._keep_states) as steps:
            output = self._model.generate(
                input_ids=read.ids,
                attention_mask=read.mask,
                **({} if read.cache is None else {"cache": read.cache}),
                generation_config=self._config(max(limits)),
                logits_processor=LogitsProcessorList([guard.watch]),
                stopping_criteria=StoppingCriteriaList([guard.stop]),
            )
        generated = output[:, width:].tolist()
        rows = [
            _cut(tokens, limit, self._end_ids, bad, stopped)
            for tokens, limit, bad, stopped in zip(
                generated, limits, guard.bad_positions, guard.stopped_at, strict=True
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

    def _read(self, prompts: Sequence[Prompt]) -> Read:
        """Pad the prompts, and read all but the last token of each into a cache where the model allows it."""
        rows = [prompt.token_ids for prompt in prompts]
        cache = None
        if self._full_attention:
            # generate() reads the last token: the answer follows from its logits.
            room = 1 + max(prompt.case.max_new_tokens for prompt in prompts)
            tenants = [prompt.case.tenant for prompt in prompts]
            cache = self._prefill.read([row[:-1] for row in rows], tenants, room)
        return Read(*self._prefill.pad(rows), cache)

    def _config(self, max_new_tokens: int) -> Any:  # noqa: ANN401 - a transformers GenerationConfig
        from transformers import GenerationConfig

        config = GenerationConfig(
            **decoding_settings(self._temperature),
            # A compiled step would be another program than the one that read the prompts.
            disable_compile=True,
            max_new_tokens=max_new_tokens,
            eos_token_id=list(self._end_ids) or None,
            pad_token_id=self._pad_id,
            bos_token_id=self._tokenizer.bos_token_id,
        )
        # generate() fills what its argument leaves open from the model's own config: sampling, penalties, forced
        # tokens. Giving the model the same config leaves nothing to fill in.
        self._model.generation_config = config
        return config

    def _generation(self, row: RowResult) -> Generation:
        if row.bad_position is not None:
            detail = f"logits of generated token {row.bad_position} are NaN or infinite"
            return Generation(status="numeric_error", detail=detail)
        text = self._tokenizer.decode(row.token_ids, skip_special_tokens=True)
        failure: FailedAnswer | None = None if row.ended else "truncated"
        if not text.strip():
            failure = "empty"
        return Generation(
            text=text,
            token_ids=tuple(row.token_ids),
            finish="stop" if row.ended else "length",
            failure=failure,
            states=row.states,
        )


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


def end_token_ids(model: Any, tokenizer: Any) -> tuple[int, ...]:  # noqa: ANN401 - transformers is untyped
    """Collect every token id that ends an answer: generation_config's (one or a list) and the tokenizer's."""
    found: list[int] = []
    for source in (getattr(model, "generation_config", None), model.config, tokenizer):
        value = getattr(source, "eos_token_id", None)
        found.extend(value if isinstance(value, list | tuple) else [] if value is None else [value])
    return tuple(dict.fromkeys(found))


def _attends_to_everything(model: Any) -> bool:  # noqa: ANN401
    """Whether every layer keeps and reads the whole context, and places are given, so that a mask may have holes.

    Models that take places from the index in the cache (ALiBi: MPT, Falcon with `alibi`, BLOOM) are read plainly.
    """
    from transformers.cache_utils import DynamicCache, DynamicLayer

    takes_positions = "position_ids" in inspect.signature(model.forward).parameters
    if not takes_positions or getattr(model.config.get_text_config(), "alibi", False):
        return False
    return all(type(layer) is DynamicLayer for layer in DynamicCache(config=model.config).layers)


def _pad_id(tokenizer: Any, end_ids: tuple[int, ...]) -> int:  # noqa: ANN401
    """Return the id rows are filled with; masked, so an end or unknown token serves as well."""
    for candidate in (tokenizer.pad_token_id, *end_ids, tokenizer.unk_token_id):
        if candidate is not None:
            return int(candidate)
    return 0


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
