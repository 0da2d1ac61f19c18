"""Score answers along the reference: two arms' hidden states in, one `ScoredAnswer` a case out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple

from qeval.engines.base import Answer
from qeval.fidelity.distance import Distances, distances
from qeval.fidelity.output_head import OutputHead
from qeval.fidelity.token_class import token_classes
from qeval.scored import ScoredAnswer

if TYPE_CHECKING:
    import torch

POSITIONS_AT_ONCE = 128
"""Positions whose distributions are in memory at once: 50 MB in fp32 at a vocabulary of 50,000."""


class Place(NamedTuple):
    """Which case, and where it ran."""

    suite: str
    case: str
    repeat: int
    batch: int
    tools: tuple[str, ...]
    """Names of the tools that the case offers."""


class Item(NamedTuple):
    """An answer as both arms judge it."""

    place: Place
    answer: Answer
    """The reference's."""
    reference: torch.Tensor
    """Final hidden states of the baseline, or of the variant's own first scoring, (positions, hidden)."""
    variant: torch.Tensor
    """Of the variant, likewise."""


class Words(NamedTuple):
    """What is known of the tokenizer that both arms have."""

    decode: Callable[[int], str]
    """The text of one token."""
    end_ids: tuple[int, ...]


class _Piece(NamedTuple):
    """Some positions: their distances, the answers' tokens, and whether all logits were finite."""

    found: Distances
    tokens: list[int]
    finite: list[bool]


def score(
    items: Sequence[Item], reference: OutputHead, variant: OutputHead, words: Words, *, reverse: bool = False
) -> list[ScoredAnswer]:
    """Compare a variant with the reference at every position of some answers, each of which has one at least.

    All positions are taken together, since a head's weights are read once for each product, however few rows it has.
    """
    import torch

    if not items:
        return []
    device = items[0].variant.device
    theirs = torch.cat([item.reference.to(device).float() for item in items])
    ours = torch.cat([item.variant.float() for item in items])
    tokens = [token for item in items for token in (*item.answer.tokens, *([None] if item.answer.ended else []))]
    pieces = []
    for start in range(0, len(tokens), POSITIONS_AT_ONCE):
        part = slice(start, start + POSITIONS_AT_ONCE)
        logs = (reference.log_probabilities(theirs[part]), variant.log_probabilities(ours[part]))
        pieces.append(_piece(*logs, tokens[part], words.end_ids, reverse=reverse))
    found = _joined(piece.found for piece in pieces)
    known = [token for piece in pieces for token in piece.tokens]
    finite = [one for piece in pieces for one in piece.finite]
    ends = list(accumulate(item.answer.positions for item in items))
    parts = [slice(end - item.answer.positions, end) for item, end in zip(items, ends, strict=True)]
    return [
        _scored(item.place, _cut(found, part), known[part], words)
        if all(finite[part])
        else ScoredAnswer(**_where(item.place), fault="numeric_error")
        for item, part in zip(items, parts, strict=True)
    ]


def _joined(pieces: Iterable[Distances]) -> Distances:
    columns = zip(*pieces, strict=True)
    return Distances._make(
        None if column[0] is None else [value for values in column for value in values] for column in columns
    )


def _cut(found: Distances, part: slice) -> Distances:
    return Distances._make(None if column is None else column[part] for column in found)


def _piece(
    theirs: torch.Tensor, ours: torch.Tensor, tokens: Sequence[int | None], end_ids: Sequence[int], *, reverse: bool
) -> _Piece:
    import torch

    finite = torch.isfinite(theirs).all(-1) & torch.isfinite(ours).all(-1)
    theirs, ours = (torch.where(finite.unsqueeze(-1), logs, 0.0) for logs in (theirs, ours))
    # Answers are kept without their end token, and a model may have several: it is the one that the reference chose.
    ids = torch.tensor(end_ids, device=theirs.device)
    ends = ids[theirs[:, ids].argmax(-1)].tolist() if end_ids else [0] * len(tokens)
    known = [end if token is None else token for token, end in zip(tokens, ends, strict=True)]
    found = distances(theirs, ours, torch.tensor(known, device=theirs.device), reverse=reverse)
    return _Piece(found, known, finite.tolist())


def _scored(place: Place, found: Distances, tokens: Sequence[int], words: Words) -> ScoredAnswer:
    differ = next((at for at, top in enumerate(found.top) if top != found.reference_top[at]), None)
    return ScoredAnswer(
        **_where(place),
        **found._asdict(),
        classes=token_classes([words.decode(token) for token in tokens], place.tools),
        divergence=None
        if differ is None
        else (words.decode(found.reference_top[differ]), words.decode(found.top[differ])),
    )


def _where(place: Place) -> dict[str, Any]:
    return {"suite": place.suite, "case": place.case, "repeat": place.repeat, "batch": place.batch}


def reconstruction_kl(head: OutputHead, states: torch.Tensor, kept: torch.Tensor) -> float:
    """Return the largest KL at a position between states as they were and as they are stored, nats."""
    worst = 0.0
    for start in range(0, len(states), POSITIONS_AT_ONCE):
        part = slice(start, start + POSITIONS_AT_ONCE)
        exact = head.log_probabilities(states[part])
        again = head.log_probabilities(kept[part].to(states.device))
        worst = max(worst, float((exact.exp() * (exact - again)).sum(-1).max()))
    return worst
