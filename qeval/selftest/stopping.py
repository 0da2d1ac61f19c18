"""At which case a planted damage or fault shows, when the cases are looked at in a random order."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence

from qeval.compare.identical import copied_answers, equal_tokens, tokens_to_doubt
from qeval.compare.pairs import Pair, pair_records, score
from qeval.compare.sequential import harm_evidence
from qeval.independence import Name
from qeval.record import Record
from qeval.suites.draw import Draw

LOOK_EVERY = 20
"""Cases between two looks at the evidence."""


def stopped_at(baseline: Record, candidate: Record | None, alpha: float, seed: int = 0) -> int | None:
    """Return after how many cases a run could have ended, had it looked as it went.

    Args:
        baseline: the baseline's record.
        candidate: the candidate's; None where it was refused before it answered.
        alpha: chance of a false alarm, over all looks together.
        seed: of the order of the clusters.

    Returns:
        0 for a candidate that was refused; the first case with another prompt, or with NaN or infinite logits; the case
        at which answers have been the baseline's for too long; else the first look, each `LOOK_EVERY` cases, at which
        `harm_evidence` reaches 1 / alpha. None where nothing ends the run early.
    """
    if candidate is None:
        return 0
    pairs = in_random_order(pair_records(baseline, candidate).pairs, seed)
    shown = _first(pairs, _other_prompt) or _first(pairs, _numeric_error)
    if shown is not None:
        return shown
    if copied_answers(baseline, candidate, pairs):
        enough = tokens_to_doubt(candidate)
        return next(n for n in range(1, len(pairs) + 1) if equal_tokens(pairs[:n]) >= enough)
    return harm_shown_at(pairs, alpha)


def in_random_order(pairs: Iterable[Pair], seed: int) -> tuple[Pair, ...]:
    """Return the pairs with their clusters in a seeded random order; those of a cluster stay together."""
    clusters: dict[Name, list[Pair]] = {}
    for pair in pairs:
        clusters.setdefault(pair.member.shared.cluster, []).append(pair)
    return tuple(pair for key in Draw(seed, "order").shuffled(sorted(clusters)) for pair in clusters[key])


def harm_shown_at(pairs: Sequence[Pair], alpha: float) -> int | None:
    """Return the first look at which the harm of pairs in random order is proven, None where it never is."""
    nets: dict[Name, float] = defaultdict(float)
    seen: set[Name] = set()
    for n, one in enumerate(score(pairs, "pass"), 1):
        shared = one.pair.member.shared
        if one.before is not None and one.after is not None and shared.prompt not in seen:
            seen.add(shared.prompt)
            nets[shared.cluster] += one.after - one.before
        if n % LOOK_EVERY == 0 and harm_evidence(nets.values()) >= 1 / alpha:
            return n
    return None


def _first(pairs: Sequence[Pair], tells: Callable[[Pair], bool]) -> int | None:
    return next((n for n, pair in enumerate(pairs, 1) if tells(pair)), None)


def _other_prompt(pair: Pair) -> bool:
    one, other = pair.baseline.outcome, pair.candidate.outcome
    return one is not None and other is not None and one.prompt_hash != other.prompt_hash


def _numeric_error(pair: Pair) -> bool:
    return pair.candidate.no_answer == "numeric_error"
