"""What a pilot of replay shows: has it the tokens of plain decoding, as far as plain decoding has its own again?"""

from __future__ import annotations

from collections.abc import Sequence
from math import comb
from typing import NamedTuple

from qeval.engines.base import Answer, Engine, Generation
from qeval.fidelity.reference import Key
from qeval.record import ReplayPilot
from qeval.runner.batches import Batch, plan_repeat
from qeval.runner.fitting import answer_fitting

LEVEL = 0.05
"""Of the test whether replay changes more than batching does."""


class Tried(NamedTuple):
    """A batch answered in both ways, row by row."""

    batch: Batch
    answers: Sequence[Answer | None]
    """The baseline's."""
    replayed: Sequence[Generation]
    plain: Sequence[Generation]


def compare(tried: Tried) -> ReplayPilot:
    """Count where replay gave the tokens of plain decoding, and how far the variant agrees with the baseline."""
    known = [(answer, own) for answer, own in zip(tried.answers, tried.replayed, strict=True) if answer]
    return ReplayPilot(
        batch=tried.batch.number,
        n_cases=len(tried.plain),
        same=sum(_same(one, other) for one, other in zip(tried.replayed, tried.plain, strict=True)),
        positions=sum(answer.positions for answer, _ in known),
        agreed_positions=sum(_agreed(answer, own) for answer, own in known),
    )


def compare_again(tried: Tried, pilot: ReplayPilot, engine: Engine, batch_tokens: int) -> ReplayPilot:
    """Decode the cases plainly once more, in other batches, and see what that changes beside replay.

    Args:
        tried: the pilot.
        pilot: what `compare` made of it.
        engine: answers the cases.
        batch_tokens: of a batch at most.
    """
    prompts = tried.batch.prompts
    again: dict[Key, Generation] = {}
    # The second repeat's batches are half as large as what they are given.
    for batch in plan_repeat(prompts, 2, len(prompts), batch_tokens):
        again.update(zip(batch.keys, answer_fitting(engine, batch.prompts, lambda tokens: None), strict=True))
    at = {key: place for place, key in enumerate(tried.batch.keys)}
    changed = [
        (not _same(tried.replayed[at[key]], tried.plain[at[key]]), not _same(other, tried.plain[at[key]]))
        for key, other in again.items()
        # Where memory ran out nothing was changed.
        if "out_of_memory" not in {other.status, tried.plain[at[key]].status}
    ]
    by_replay = sum(one and not other for one, other in changed)
    by_batching = sum(other and not one for one, other in changed)
    return pilot.model_copy(
        update={
            "n_again": len(changed),
            "again_same": sum(not other for _, other in changed),
            "replay_alone": by_replay,
            "again_alone": by_batching,
            "p_value": _sign_test(by_replay, by_batching),
        }
    )


def holds(pilot: ReplayPilot) -> bool:
    """Whether replay was not seen to change more than batching does.

    Where batching changes nothing, replay must change nothing.
    """
    if pilot.again_same == pilot.n_again and pilot.replay_alone:
        return False
    return pilot.p_value is None or pilot.p_value > LEVEL


def _sign_test(more: int, fewer: int) -> float | None:
    """Return the chance of so many or more of the first among all, were both as likely; None where there are none."""
    n = more + fewer
    return sum(comb(n, k) for k in range(more, n + 1)) / 2**n if n else None


def _same(one: Generation, other: Generation) -> bool:
    return (one.status, one.token_ids, one.finish) == (other.status, other.token_ids, other.finish)


def _agreed(answer: Answer, own: Generation) -> int:
    """Return how many positions of an answer come before the first that the variant changed."""
    paired = zip(answer.tokens, own.token_ids, strict=False)
    shared = next((at for at, (one, other) in enumerate(paired) if one != other), None)
    if shared is None:
        shared = min(len(answer.tokens), len(own.token_ids))
    whole = shared == len(answer.tokens) == len(own.token_ids)
    return shared + (whole and answer.ended and own.finish == "stop")
