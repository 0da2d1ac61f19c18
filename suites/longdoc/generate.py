"""Cases of the suite `longdoc`: documents of several kinds and lengths, with several questions each."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from itertools import cycle
from pathlib import Path
from typing import Any

from qeval.suites.bank import read_bank
from qeval.suites.draw import Draw

from .document import LONG_FROM, Document, write
from .questions import ABSENT, MAKERS, Question

# (length in thousands of tokens, documents, questions each)
PLAN = {
    "smoke": ((0.2, 10, 3), (0.5, 2, 1)),
    "standard": ((0.2, 12, 4), (0.5, 18, 4), (1, 22, 4), (2, 14, 4), (4, 8, 4), (6, 4, 4), (7, 4, 4)),
    "full": ((0.2, 36, 5), (0.5, 48, 5), (1, 60, 5), (2, 36, 5), (4, 20, 5), (6, 10, 5), (7, 8, 5)),
}
# The order in which questions come round. A document gets questions answered with a line (those of long documents have
# a round of their own), or (every third) questions answered yes or no, so that all of its questions share two examples.
LINE_ROUND = (
    "single", "absent", "rule", "update", "lookup", "most", "single", "several", "rule", "absent", "list",
    "choice", "count", "single", "update", "chain", "rule", "lookup", "list", "single", "owner", "absent", "rule",
)  # fmt: skip
LONG_ROUND = (
    "single", "clause", "absent", "keys", "update", "values", "count", "rule", "several", "chain", "lookup", "list",
    "absent", "questions", "before", "deputy", "most", "choice", "clause", "absent", "keys", "update", "values",
    "owner", "deputy", "rule", "count", "questions",
)  # fmt: skip
YES_OR_NO_ROUND = ("check", "compare", "check")
DIFFICULTY = {
    "single": "easy", "lookup": "easy", "owner": "easy", "choice": "easy",
    "check": "medium", "compare": "medium", "rule": "medium", "update": "medium",
    "keys": "medium", "before": "medium",
}  # fmt: skip
COPIES = frozenset({"single", "choice", "lookup", "owner", "keys"})
"""Questions that whoever copies the right line has answered."""
YES_OR_NO = frozenset({"check", "compare"})
INSTRUCTION = f'Answer with the line of the text that tells it, or with "{ABSENT}".'


def generate(size: str, seed: int) -> list[dict[str, Any]]:
    """Return the cases of a size."""
    bank = _read_bank()
    plans = [(length, n_asked) for length, n_documents, n_asked in PLAN[size] for _ in range(n_documents)]
    lines, long, yes_or_no = cycle(LINE_ROUND), cycle(LONG_ROUND), cycle(YES_OR_NO_ROUND)
    # Where a model always says no, half of the questions must be answered yes.
    truths = cycle(("yes", "no"))
    cases: list[dict[str, Any]] = []
    for number, (length, n_asked) in enumerate(plans):
        kind = list(bank["kinds"])[number % len(bank["kinds"])]
        cluster = f"{size}-{number:03d}"
        document = write(Draw(seed, size, number), bank, kind, length)
        draw = Draw(seed, cluster)
        if number % 3 == 2:
            checks = _ask(draw, bank, document, cycle(["check"]), count=2, answers=cycle(["yes", "no"]))
            examples = draw.shuffled(checks)
            questions = _ask(draw, bank, document, yes_or_no, count=n_asked, answers=truths, shown=examples)
        else:
            examples = _ask(draw, bank, document, iter(["single", "lookup"]), count=2)
            kinds = lines if length < LONG_FROM else long
            questions = _ask(draw, bank, document, kinds, count=n_asked, shown=examples)
        tags = {"lang": "en", "document": kind, "length": f"{length:g}k"}
        cases += [_case(document, examples, question, cluster, tags) for question in questions]
    return cases


def _read_bank() -> dict[str, Any]:
    """Read the suite's word banks as one."""
    folder = Path(__file__).parent
    bank: dict[str, Any] = read_bank(folder / "bank.yaml")
    long = read_bank(folder / "long.yaml")
    return {
        **bank,
        "values": {**bank["values"], **long["values"]},
        "questions": {**bank["questions"], **long["questions"]},
        "deputy": long["deputy"],
        "long": long["kinds"],
    }


def _ask(
    draw: Draw,
    bank: dict[str, Any],
    document: Document,
    kinds: Iterator[str],
    *,
    count: int,
    answers: Iterator[str] | None = None,
    shown: Sequence[Question] = (),
) -> list[Question]:
    """Return questions of the kinds whose turn it is, none of which rests on a line that answers a shown one.

    Args:
        draw: where values come from.
        bank: the bank of the suite.
        document: what is asked about.
        kinds: a kind for each try.
        count: how many to return.
        answers: the answers that they must have in turn; None where any will do.
        shown: examples whose answers stand in the prompt.
    """
    questions: list[Question] = []
    answer = None if answers is None else next(answers)
    while len(questions) < count:
        kind = next(kinds)
        question = MAKERS[kind](draw, bank, document)._replace(kind=kind)
        while answer not in {None, question.answer}:
            question = MAKERS[kind](draw, bank, document)._replace(kind=kind)
        known = [set(other.needs) for other in [*shown, *(questions if not shown else [])]]
        if question.text in {other.text for other in questions} or _told(question, known):
            continue
        questions.append(question)
        answer = None if answers is None or len(questions) == count else next(answers)
    return questions


def _told(question: Question, known: list[set[str]]) -> bool:
    """Whether the lines it rests on are those of a shown question, or (of several answers) one of them is."""
    needs = set(question.needs)
    return any(needs == other or (question.kind == "several" and needs & other) for other in known)


def _case(
    document: Document, examples: list[Question], question: Question, cluster: str, tags: dict[str, str]
) -> dict[str, Any]:
    text = "\n".join(document.lines)
    first, second = examples
    number = hashlib.sha256(question.text.encode()).hexdigest()[:6]
    return {
        "id": f"longdoc-{cluster}-{question.kind}-{number}",
        "messages": [
            {"role": "system", "content": INSTRUCTION},
            {"role": "user", "content": f"{text}\n\n{first.text}"},
            {"role": "assistant", "content": first.answer},
            {"role": "user", "content": second.text},
            {"role": "assistant", "content": second.answer},
            {"role": "user", "content": question.text},
        ],
        "graders": question.graders,
        "tags": {
            **tags,
            "kind": question.kind,
            "depth": _depth(text, question.needs),
            "difficulty": DIFFICULTY.get(question.kind, "hard"),
            "copy": "yes" if question.kind in COPIES else "no",
        },
        "cluster": cluster,
        "max_new_tokens": 2 if question.kind in YES_OR_NO else 20,
    }


def _depth(text: str, needs: list[str]) -> str:
    """Return in which fifth of the document the first line lies that the answer rests on."""
    if not needs:
        return "none"
    fifth = min(int(5 * text.index(needs[0]) / len(text)), 4)
    return f"{20 * fifth}-{20 * fifth + 20}%"
