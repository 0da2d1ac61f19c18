"""Hooks into generate(): one looks at every step's raw logits, one stops each row at its own limit or stop text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from qeval.engines.base import OnStep, Prompt
from qeval.engines.detokenize import Detokenizer
from qeval.engines.limits import Limit
from qeval.suites.stops import find_stop


class Guard(NamedTuple):
    """The hooks of one batch, and what they have seen, row by row."""

    watch: Any
    """A logits processor."""
    stop: Any
    """A stopping criterion."""
    bad_positions: list[int | None]
    """Index of a row's first answer token whose logits were NaN or infinite."""
    stopped_at: list[int | None]
    """How many tokens a row's answer had when it held a stop text."""


def guard_rows(
    prompt_length: int,
    prompts: Sequence[Prompt],
    detokenizer: Detokenizer,
    on_step: OnStep,
    begun: Sequence[Sequence[int]],
) -> Guard:
    """Build the hooks for one batch.

    Args:
        prompt_length: padded length of the prompts in tokens.
        prompts: one a row; their limits and their cases' stop texts count.
        detokenizer: gives the text of what was generated, to find stop texts.
        on_step: told at every step how many rows are still under their limit.
        begun: for each row the last tokens of `prompt_length` that are its answer's own already.
    """
    import torch
    from transformers import LogitsProcessor, StoppingCriteria

    limits = [Limit(prompt, detokenizer) for prompt in prompts]
    ends = [end_finder(detokenizer, prompt.case.stop) for prompt in prompts]
    bad_positions: list[int | None] = [None] * len(prompts)
    stopped_at: list[int | None] = [None] * len(prompts)
    full = [False] * len(prompts)
    looked_at = [
        has_ended is not None or prompt.thought_tokens > 0 for has_ended, prompt in zip(ends, prompts, strict=True)
    ]

    class Watch(LogitsProcessor):  # type: ignore[misc]
        def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
            """Note rows whose logits, shape (rows, vocabulary), are not finite."""
            generated = input_ids.shape[1] - prompt_length
            finite = torch.isfinite(scores).all(dim=-1)
            for row in (~finite).nonzero().flatten().tolist():
                if bad_positions[row] is None:
                    bad_positions[row] = len(begun[row]) + generated
            on_step(len(full) - sum(full))
            return scores if bool(finite.all()) else torch.nan_to_num(scores, nan=0.0, posinf=0.0, neginf=0.0)

    class Stop(StoppingCriteria):  # type: ignore[misc]
        def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor, **_: Any) -> torch.Tensor:  # noqa: ANN401
            """Return which rows are done, shape (rows,)."""
            for row, has_ended in enumerate(ends):
                length = len(begun[row]) + input_ids.shape[1] - prompt_length
                tokens = input_ids[row, -length:].tolist() if looked_at[row] else []
                full[row] = full[row] or length >= limits[row].at(tokens)
                if has_ended and stopped_at[row] is None and has_ended(tokens):
                    stopped_at[row] = length
            done = [
                at_limit or bad is not None or stopped is not None
                for at_limit, bad, stopped in zip(full, bad_positions, stopped_at, strict=True)
            ]
            return torch.tensor(done, device=input_ids.device)

    return Guard(Watch(), Stop(), bad_positions, stopped_at)


def end_finder(detokenizer: Detokenizer, stops: Sequence[str]) -> Callable[[Sequence[int]], bool] | None:
    """Return what tells whether an answer's tokens end with a stop text of a case; None where the case has none."""
    if not stops:
        return None
    # Each step brings one token, so a stop text is completed at the end: no token is less than a byte of it.
    window = 8 + 8 * max(map(len, stops))

    def has_ended(token_ids: Sequence[int]) -> bool:
        return find_stop(detokenizer.text(token_ids[-window:]), stops) is not None

    return has_ended
