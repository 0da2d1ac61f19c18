"""Fidelity of parts of a slice: by class of token, by position in the answer, by length of the prompt."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import cache

from qeval.compare.clustered_means import FEWEST_FOR_PERCENTILES, clustered_mean, clustered_share, percentile
from qeval.compare.fidelity_result import FidelityPart, PartName
from qeval.compare.scored_cases import ScoredCase
from qeval.compare.slice_key import SliceKey
from qeval.independence import Name
from qeval.scored import CLASS_LETTERS

_POSITIONS = (1, 4, 16, 64)
_PROMPTS = (256, 1024, 4096, 16384)
"""Last values of the bins; one more bin holds what is above."""


class _Pile:
    """The positions of one part."""

    def __init__(self) -> None:
        self.kl: dict[Name, list[float]] = defaultdict(list)
        self.same: dict[Name, int] = defaultdict(int)
        self.cases = 0

    def add(self, case: ScoredCase, positions: Sequence[tuple[float, bool]]) -> None:
        """Add some positions of a case: the KL divergence of each, and whether both prefer the same token."""
        if positions:
            self.cases += 1
            self.kl[case.cluster] += [kl for kl, _ in positions]
            self.same[case.cluster] += sum(same for _, same in positions)


def parts(key: SliceKey, cases: Sequence[ScoredCase], alpha: float) -> Iterable[FidelityPart]:
    """Describe the parts of a slice that have positions, each kind in its natural order."""
    piles: dict[PartName, dict[str, _Pile]] = {
        "token_class": {name: _Pile() for name in CLASS_LETTERS},
        "position": {name: _Pile() for name in bin_names(_POSITIONS)},
        "prompt_tokens": {name: _Pile() for name in (*bin_names(_PROMPTS), "unknown")},
    }
    for case in cases:
        _sort(case, piles)
    for by, named in piles.items():
        yield from (_part(key, by, value, pile, alpha) for value, pile in named.items() if pile.cases)


@cache
def bin_names(ends: tuple[int, ...]) -> tuple[str, ...]:
    """Name bins by their first and last value.

    >>> bin_names((1, 4, 1024))
    ('1', '2-4', '5-1,024', '1,025+')
    """
    starts = [1, *(end + 1 for end in ends)]
    closed = [f"{a:,}" if a == b else f"{a:,}-{b:,}" for a, b in zip(starts, ends, strict=False)]
    return (*closed, f"{starts[-1]:,}+")


def _sort(case: ScoredCase, piles: dict[PartName, dict[str, _Pile]]) -> None:
    """Put every position of a case onto one pile of each kind."""
    scored = case.scored
    same = [ours == theirs for ours, theirs in zip(scored.reference_top, scored.top, strict=True)]
    positions = list(zip(scored.kl, same, strict=True))
    length = "unknown"
    if case.prompt_tokens is not None:
        length = bin_names(_PROMPTS)[sum(case.prompt_tokens > end for end in _PROMPTS)]
    piles["prompt_tokens"][length].add(case, positions)
    for name, start, end in zip(bin_names(_POSITIONS), (0, *_POSITIONS), (*_POSITIONS, None), strict=True):
        piles["position"][name].add(case, positions[start:end])
    for name, letter in CLASS_LETTERS.items():
        chosen = [at for at, found in zip(positions, scored.classes, strict=True) if found == letter]
        piles["token_class"][name].add(case, chosen)


def _part(key: SliceKey, by: PartName, value: str, pile: _Pile, alpha: float) -> FidelityPart:
    sizes = [len(values) for values in pile.kl.values()]
    kl = clustered_mean([sum(values) for values in pile.kl.values()], sizes, alpha)
    same = clustered_share(list(pile.same.values()), sizes, alpha)
    ordered = sorted(kl for values in pile.kl.values() for kl in values)
    return FidelityPart(
        slice=key,
        by=by,
        value=value,
        n_cases=pile.cases,
        n_tokens=len(ordered),
        clusters=len(sizes),
        kld_mean=kl.value,
        kld_se=kl.se,
        kld_low=kl.low,
        kld_high=kl.high,
        kld_p99=percentile(ordered, 0.99) if len(ordered) >= FEWEST_FOR_PERCENTILES else None,
        same_top_p=same.value,
        same_top_p_se=same.se,
        same_top_p_low=same.low,
        same_top_p_high=same.high,
    )
