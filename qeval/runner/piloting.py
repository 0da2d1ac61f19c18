"""What a pilot of replay shows: has replay the tokens of plain decoding, and how much less work is it?

Both are counted from tokens alone, never timed: the same answers on the same machine always give the same choice,
whatever else runs there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from qeval.engines.base import Answer, Generation
from qeval.engines.work import Work
from qeval.record import ReplayPilot
from qeval.runner.batches import Batch


class Tried(NamedTuple):
    """A batch answered in both ways, row by row."""

    batch: Batch
    answers: Sequence[Answer | None]
    """The baseline's."""
    replayed: Sequence[Generation]
    plain: Sequence[Generation]


def compare(tried: Tried, work: Work, *, followed_anyway: bool) -> ReplayPilot:
    """Count where replay gave the tokens of plain decoding, how far the variant agrees, and the work of both ways.

    Args:
        tried: the pilot.
        work: what decoding and reading cost on the device.
        followed_anyway: the answers were followed for fidelity's sake, so that following is no work of replay's.
    """
    agreed = [_agreed(answer, own) for answer, own in zip(tried.answers, tried.replayed, strict=True)]
    positions = [answer.positions if answer else 0 for answer in tried.answers]
    left = [max(0, _steps(own) - done) for own, done in zip(tried.replayed, agreed, strict=True)]
    rows, going = len(tried.plain), sum(one > 0 for one in left)
    longest = max(len(prompt.token_ids) + prompt.case.max_new_tokens for prompt in tried.batch.prompts)
    following = 0.0 if followed_anyway else work.read(rows, max(positions))
    # The rows that go on are copied, which reads their caches once; what agrees passes through the output head.
    moving = going * longest / work.row_tokens + sum(agreed)
    return ReplayPilot(
        batch=tried.batch.number,
        n_cases=rows,
        same=sum(_same(one, other) for one, other in zip(tried.replayed, tried.plain, strict=True)),
        positions=sum(positions),
        agreed_positions=sum(agreed),
        plain_work=work.decode(max(map(_steps, tried.plain)), rows, longest),
        replay_work=following + moving + work.decode(max(left), going, longest),
    )


def _steps(generation: Generation) -> int:
    """Return the decode steps of an answer, the one that gave its end token among them."""
    return len(generation.token_ids) + (generation.finish == "stop")


def _same(one: Generation, other: Generation) -> bool:
    return (one.status, one.token_ids, one.finish) == (other.status, other.token_ids, other.finish)


def _agreed(answer: Answer | None, own: Generation) -> int:
    """Return how many positions of an answer come before the first that the variant changed."""
    if answer is None:
        return 0
    paired = zip(answer.tokens, own.token_ids, strict=False)
    shared = next((at for at, (one, other) in enumerate(paired) if one != other), None)
    if shared is None:
        shared = min(len(answer.tokens), len(own.token_ids))
    whole = shared == len(answer.tokens) == len(own.token_ids)
    return shared + (whole and answer.ended and own.finish == "stop")
