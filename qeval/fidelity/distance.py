"""How far two distributions over the vocabulary lie apart, position by position."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import torch


class Distances(NamedTuple):
    """Of P positions, each a list of P numbers; see `qeval.scored.ScoredAnswer` for what each is."""

    kl: list[float]
    reverse_kl: list[float] | None
    """None where it was not asked for."""
    total_variation: list[float]
    reference_logprob: list[float]
    logprob: list[float]
    entropy: list[float]
    gap: list[float]
    shift: list[float]
    reference_top: list[int]
    top: list[int]


def distances(
    reference: torch.Tensor, variant: torch.Tensor, tokens: torch.Tensor, *, reverse: bool = False
) -> Distances:
    """Compare two distributions at every position, over the whole vocabulary.

    Args:
        reference: natural log-probabilities, (positions, vocabulary), fp32.
        variant: likewise.
        tokens: the answer's token at each position, (positions,).
        reverse: whether KL(variant || reference) is wanted too.

    Returns:
        KL divergence KL(reference || variant) = sum p (log p - log q), at least 0 (rounding can give less), and the
        rest, in nats where they are logarithms.
    """
    p, q = reference.exp(), variant.exp()
    best = reference.topk(2, dim=-1)
    first, second = best.indices.unbind(dim=-1)
    gap = best.values[:, 0] - best.values[:, 1]
    at = tokens.unsqueeze(-1)
    moved = variant.gather(-1, first.unsqueeze(-1)) - variant.gather(-1, second.unsqueeze(-1))
    return Distances(
        kl=_numbers((p * (reference - variant)).sum(-1).clamp(min=0)),
        reverse_kl=_numbers((q * (variant - reference)).sum(-1).clamp(min=0)) if reverse else None,
        total_variation=_numbers((p - q).abs().sum(-1) / 2),
        reference_logprob=_numbers(reference.gather(-1, at).squeeze(-1)),
        logprob=_numbers(variant.gather(-1, at).squeeze(-1)),
        entropy=_numbers(-(p * reference).sum(-1)),
        gap=_numbers(gap),
        shift=_numbers(moved.squeeze(-1) - gap),
        reference_top=first.tolist(),
        top=variant.argmax(-1).tolist(),
    )


def _numbers(values: torch.Tensor) -> list[float]:
    """Return numbers of six digits: more would say what the machine's rounding is."""
    return [float(f"{value:.6g}") for value in values.tolist()]
