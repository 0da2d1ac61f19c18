"""The answers that every variant is scored along: the baseline's first ones."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from qeval.jsonl import dumps
from qeval.outcome import Outcome

Key = tuple[str, str]
"""Suite and case id."""


class Answer(NamedTuple):
    """An answer to be followed."""

    tokens: tuple[int, ...]
    ended: bool
    """Whether an end token follows the last."""

    @property
    def positions(self) -> int:
        """Tokens to predict, the end token among them."""
        return len(self.tokens) + self.ended


def answers_of(outcomes: Sequence[Outcome]) -> dict[Key, Answer]:
    """Return the first answers of a record by suite and case id; cases without an answer have none."""
    return {
        (outcome.suite, outcome.case): Answer(outcome.token_ids, outcome.finish == "stop")
        for outcome in outcomes
        if outcome.answered and not outcome.repeat
    }


def answers_digest(answers: Mapping[Key, Answer]) -> str:
    """sha256 over all answers: equal where two records' fidelity is to the same thing."""
    lines = [[*key, list(answer.tokens), answer.ended] for key, answer in sorted(answers.items())]
    return hashlib.sha256(dumps(lines).encode()).hexdigest()


def places_of(outcomes: Sequence[Outcome]) -> dict[Key, tuple[int, int]]:
    """Return batch and row of every first outcome, answered or not, as a record lists them."""
    rows: dict[int, int] = {}
    found = {}
    for outcome in outcomes:
        if not outcome.repeat:
            row = rows[outcome.batch] = rows.get(outcome.batch, -1) + 1
            found[outcome.suite, outcome.case] = (outcome.batch, row)
    return found
