"""The transformers engine: decoding with a loaded model in this process.

Decoding is greedy, or samples at a temperature, whatever the model's own generation_config says. Rows are padded on
the left with a mask, so a pad token that equals the end token ends nothing. Each row stops at its own limit, at any
of the model's end tokens, or where its text holds a stop text of its case.
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

from qeval.engines.base import Generation, OnRead, OnStep, Prompt
from qeval.engines.batch_mates import largest_move
from qeval.engines.decode import Decoder
from qeval.engines.follow import Read
from qeval.engines.prefill import Prefill
from qeval.engines.replay import BatchReading
from qeval.errors import is_out_of_memory
from qeval.evidence import ComparabilityLevel, Rendering
from qeval.rendering.renderer import PLAIN_RULES, Renderer, Rules
from qeval.suites.case import Case


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
        rules: Rules = PLAIN_RULES,
        keep_states: bool = False,
    ) -> None:
        """Prepare a loaded model and its tokenizer for decoding; `temperature` 0 is greedy.

        Raises:
            UsageError: `rules` ask for what the model's chat template does not have.
        """
        self._model = model.eval()
        self._device = device
        end_ids = end_token_ids(model, tokenizer)
        pad_id = _pad_id(tokenizer, end_ids, model.config.get_text_config().vocab_size)
        self._prefill = Prefill(self._model, pad_id, device)
        self._decoder = Decoder(self._model, tokenizer, end_ids, pad_id, temperature, keep_states=keep_states)
        self._renderer = Renderer(tokenizer, rules, end_ids, tokenizer.convert_ids_to_tokens(pad_id))
        self.rendering: Rendering = self._renderer.rendering
        self.thought_tokens = self._renderer.thinking.tokens
        self.can_replay = _attends_to_everything(model)
        self._token_bytes = _cache_token_bytes(model)
        self.context_tokens: int | None = getattr(model.config.get_text_config(), "max_position_embeddings", None)

    def render(self, suite: str, case: Case) -> Prompt:
        """Turn a case into the prompt the model reads.

        Raises:
            RefusedError: it cannot be shown whole.
        """
        rendered = self._renderer.render(case)
        return Prompt(
            suite,
            case,
            rendered.token_ids,
            rendered.text,
            way=rendered.way,
            thought_tokens=self.thought_tokens or 0,
        )

    def set_threads(self, threads: int) -> None:
        """Compute with so many CPU threads from now on."""
        import torch

        torch.set_num_threads(threads)

    def read_apart(self) -> None:
        """Read every prompt whole from now on, whatever it shares with others."""
        self._prefill.shares = False

    def cache_bytes(self, prompts: Sequence[Prompt]) -> int | None:
        """Return what a batch's cache takes of this process's memory while it is filled; None where not known."""
        if self._device != "cpu" or self._token_bytes is None:
            return None
        longest = max(len(prompt.token_ids) for prompt in prompts)
        room = max(prompt.max_tokens for prompt in prompts)
        # Twice: it is joined from the parts that were read.
        return 2 * len(prompts) * (longest + room) * self._token_bytes

    def answer(self, prompts: Sequence[Prompt], on_step: OnStep, on_read: OnRead | None = None) -> list[Generation]:
        """Answer a batch, in order.

        A batch that does not fit in memory gives `out_of_memory` for each of its cases.
        """
        try:
            read = self._read(prompts)
            if on_read is not None:
                self._wait()
                answers = self._handed_out(read, prompts, on_read)
                if answers is not None:
                    return answers
            rows = self._decoder.decode(read, prompts, on_step)
        except (MemoryError, RuntimeError) as error:
            if not is_out_of_memory(error):
                raise
            return [Generation(status="out_of_memory", detail=f"batch of {len(prompts)}: {error}") for _ in prompts]
        return [self._decoder.generation(row) for row in rows]

    def _handed_out(self, read: Read, prompts: Sequence[Prompt], on_read: OnRead) -> list[Generation] | None:
        """Hand out what was read; where it is to be decoded plainly, leave nothing of what was followed."""
        reading = BatchReading(self._model, self._prefill, self._decoder, read, prompts)
        answers = on_read(reading)
        if answers is None:
            reading.forget()
        return answers

    def _wait(self) -> None:
        """Let the reading end, so that whoever times what follows does not time it."""
        import torch

        if self._device.startswith("cuda"):
            torch.cuda.synchronize()

    def batch_mates(self, seed: int) -> float | None:
        """Run the batch-mate test on seeded token ids; None where logits are not finite."""
        return largest_move(self._model, self._device, seed)

    def _read(self, prompts: Sequence[Prompt]) -> Read:
        """Pad the prompts, and read all but the last token of each into a cache where the model allows it."""
        rows = [prompt.token_ids for prompt in prompts]
        cache = None
        if self.can_replay:
            # generate() reads the last token: the answer follows from its logits.
            room = 1 + max(prompt.max_tokens for prompt in prompts)
            tenants = [prompt.case.tenant for prompt in prompts]
            cache = self._prefill.read([row[:-1] for row in rows], tenants, room)
        return Read(*self._prefill.pad(rows), cache)


def _cache_token_bytes(model: Any) -> int | None:  # noqa: ANN401 - transformers is untyped
    """Return the bytes of a token's keys and values over all layers; None where the config does not say."""
    config = model.config.get_text_config()
    heads = getattr(config, "num_key_value_heads", None) or getattr(config, "num_attention_heads", None)
    layers, width = getattr(config, "num_hidden_layers", None), getattr(config, "head_dim", None)
    if width is None and hasattr(config, "hidden_size") and hasattr(config, "num_attention_heads"):
        width = config.hidden_size // config.num_attention_heads
    return int(2 * layers * heads * width * model.dtype.itemsize) if layers and heads and width else None


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


def _pad_id(tokenizer: Any, end_ids: tuple[int, ...], vocabulary: int) -> int:  # noqa: ANN401
    """Return the id rows are filled with; masked, so an end or unknown token serves as well.

    Some tokenizers have a padding token that their model has no embedding for.
    """
    for candidate in (tokenizer.pad_token_id, *end_ids, tokenizer.unk_token_id):
        if candidate is not None and candidate < vocabulary:
            return int(candidate)
    return 0
