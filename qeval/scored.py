"""How a variant scores the baseline's own answers, token by token: what fidelity is computed from.

The answer's prompt is read into the variant's cache, then the answer as a second chunk, so that every position is
judged by the cache that the variant really decodes with. A *position* is a place in the answer; the last one predicts
the end token where the answer ended.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from qeval.strict import Strict
from qeval.text_kinds import ModelText, Name, Own

TokenClass = Literal["digit", "json", "tool", "other"]
"""Digits; punctuation of JSON; a tool's name; anything else."""
CLASS_LETTERS: dict[TokenClass, str] = {"digit": "d", "json": "j", "tool": "t", "other": "o"}


class ScoredAnswer(Strict):
    """One case of a variant, scored along the baseline's answer. All tuples have one item a position.

    `repeat` 0 compares with the baseline. A later one compares the variant with its own first scoring, in other
    batches: its noise floor. Logarithms are natural.
    """

    suite: Name
    case: Name
    repeat: int = Field(default=0, ge=0)
    batch: int = Field(ge=0)
    kind: Literal["exact", "top_k_bound"] = "exact"
    """Over the whole vocabulary; or over the k likeliest tokens and one bucket for the rest: a lower bound."""
    kl: tuple[float, ...] = ()
    """KL(reference || variant), nats."""
    reverse_kl: tuple[float, ...] | None = None
    """KL(variant || reference), nats; None where it was not asked for."""
    total_variation: tuple[float, ...] = ()
    """Half the sum of absolute differences; 1 less this is the chance that a draft would be accepted."""
    reference_logprob: tuple[float, ...] = ()
    """Of the answer's token, by the reference."""
    logprob: tuple[float, ...] = ()
    """Of the answer's token, by the variant."""
    entropy: tuple[float, ...] = ()
    """Of the reference, nats."""
    gap: tuple[float, ...] = ()
    """Log-probability of the reference's likeliest token less that of its second."""
    shift: tuple[float, ...] = ()
    """How far the variant moves that gap between the same two tokens."""
    reference_top: tuple[int, ...] = ()
    top: tuple[int, ...] = ()
    """Likeliest token of the reference, and of the variant."""
    classes: Own = Field(default="", pattern="^[djto]*$")
    """A letter a position, see CLASS_LETTERS, of the answer's token."""
    divergence: tuple[ModelText, ModelText] | None = None
    """Texts of the two tokens at the first position whose likeliest tokens differ; None where none does."""
    fault: Literal["numeric_error", "out_of_memory"] | None = None
    """Why there is nothing: logits not finite somewhere, or no memory for the pass."""

    @model_validator(mode="after")
    def _one_item_a_position(self) -> ScoredAnswer:
        parts = [
            self.kl,
            self.total_variation,
            self.reference_logprob,
            self.logprob,
            self.entropy,
            self.gap,
            self.shift,
            self.reference_top,
            self.top,
            self.classes,
            *([] if self.reverse_kl is None else [self.reverse_kl]),
        ]
        if len({len(part) for part in parts}) > 1:
            raise ValueError("every tuple of a scored case must have one item a position")
        return self
