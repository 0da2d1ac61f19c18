"""The answers that every variant is scored along: the baseline's first ones."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

from qeval.engines.base import Answer, Prompt
from qeval.jsonl import dumps
from qeval.outcome import Outcome

Key = tuple[str, str]
"""Suite and case id."""


def answers_of(outcomes: Sequence[Outcome]) -> dict[Key, Answer]:
    """Return the first answers of a record by suite and case id; cases without an answer have none."""
    return {
        (outcome.suite, outcome.case): Answer(outcome.token_ids, outcome.finish == "stop")
        for outcome in outcomes
        if outcome.answered and not outcome.repeat
    }


def answer_to(answers: Mapping[Key, Answer], prompt: Prompt) -> Answer | None:
    """Return the answer to a prompt; None where there is none."""
    answer = answers.get((prompt.suite, prompt.case.id))
    # Where a case has stop texts, nothing says whether one of them ended the answer or an end token did.
    return answer._replace(ended=False) if answer and prompt.case.stop else answer


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
