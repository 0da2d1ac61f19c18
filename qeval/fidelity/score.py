"""Score answers along the reference: two arms' hidden states in, one `ScoredAnswer` a case out."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from qeval.fidelity.distance import Distances, distances
from qeval.fidelity.output_head import OutputHead
from qeval.fidelity.reference import Answer
from qeval.fidelity.token_class import token_classes
from qeval.scored import ScoredAnswer

if TYPE_CHECKING:
    import torch

POSITIONS_AT_ONCE = 128
"""Positions whose distributions are in memory at once: 50 MB in fp32 at a vocabulary of 50,000."""


class Arm(NamedTuple):
    """One side of the comparison."""

    head: OutputHead
    states: torch.Tensor
    """Final hidden states, (positions, hidden)."""


class Place(NamedTuple):
    """Which case, and where it ran."""

    suite: str
    case: str
    repeat: int
    batch: int
    tools: tuple[str, ...]
    """Names of the tools that the case offers."""


class Words(NamedTuple):
    """What is known of the tokenizer."""

    decode: Callable[[int], str]
    """The text of one token."""
    end_ids: tuple[int, ...]


def score(place: Place, reference: Arm, variant: Arm, answer: Answer, words: Words) -> ScoredAnswer:
    """Compare a variant with the reference at every position of an answer.

    Args:
        place: of the case.
        reference: the baseline, or the variant's own first scoring.
        variant: as it judges the same tokens.
        answer: the reference's.
        words: of the tokenizer that both have.
    """
    import torch

    tokens = [*answer.tokens, *([_end_token(reference, words)] if answer.ended else [])]
    where = {"suite": place.suite, "case": place.case, "repeat": place.repeat, "batch": place.batch}
    found: list[Distances] = []
    for start in range(0, len(tokens), POSITIONS_AT_ONCE):
        part = slice(start, start + POSITIONS_AT_ONCE)
        ours = variant.head.log_probabilities(variant.states[part])
        theirs = reference.head.log_probabilities(reference.states[part].to(ours.device))
        if not (bool(torch.isfinite(ours).all()) and bool(torch.isfinite(theirs).all())):
            return ScoredAnswer(**where, fault="numeric_error")
        found.append(distances(theirs, ours, torch.tensor(tokens[part], device=ours.device)))
    joined = Distances(*([value for piece in column for value in piece] for column in zip(*found, strict=True)))
    differ = next((at for at, top in enumerate(joined.top) if top != joined.reference_top[at]), None)
    return ScoredAnswer(
        **where,
        **joined._asdict(),
        classes=token_classes([words.decode(token) for token in tokens], place.tools),
        divergence=None
        if differ is None
        else (words.decode(joined.reference_top[differ]), words.decode(joined.top[differ])),
    )


def _end_token(reference: Arm, words: Words) -> int:
    """Return the end token that the reference chose: answers are kept without it, and a model may have several."""
    last = reference.head.log_probabilities(reference.states[-1:])[0]
    return max(words.end_ids, key=lambda token: float(last[token]))


def reconstruction_kl(head: OutputHead, states: torch.Tensor, kept: torch.Tensor) -> float:
    """Return the largest KL at a position between states as they were and as they are stored, nats."""
    worst = 0.0
    for start in range(0, len(states), POSITIONS_AT_ONCE):
        part = slice(start, start + POSITIONS_AT_ONCE)
        exact = head.log_probabilities(states[part])
        again = head.log_probabilities(kept[part].to(states.device))
        worst = max(worst, float((exact.exp() * (exact - again)).sum(-1).max()))
    return worst
