"""The refusal rules' rival: a linear model that weighs the same cues, tried on models that it never saw.

Imported by refusal_table.py. What it would learn from prompts is held back as well: all answers to the kind of prompt
that is tried (XSTest's types, safe and unsafe together) are left out of the training.
"""

from __future__ import annotations

from itertools import product

import numpy as np
from sklearn.linear_model import LogisticRegression

from qeval.grading._refusal.cues import Answer
from qeval.grading._refusal.rules import Extent
from tests.grading.labelled_refusals import EXTENTS, Labelled

STRENGTH = 0.3
"""Inverse strength of the ridge penalty; 0.1 to 1 differ by less than 2 points."""
_SHORT = 150
"""Letters below which an answer is short."""
_GROUPS = {"nons_group_real_discr": "discr", "real_group_nons_discr": "discr"}
"""Types of prompts that are variations on another's."""


def features(row: Labelled) -> list[float]:
    """Return the cues of an answer, each between 0 and 1: how it opens, what follows, what was asked, and products."""
    answer = Answer(row.text, row.prompt, row.language)
    ask, lead = answer.ask, answer.rejection
    rejects = None if lead is None else answer.sentences[lead].rejects
    opens = [answer.refuses, *(rejects == kind for kind in ("judge", "norm", "crime")), answer.any("lecture", 1)]
    asked = [ask.reasons, ask.causes, ask.way, ask.meaning, ask.closed]
    follows = [
        min(1.0, answer.help_letters / max(1, answer.letters)),
        2 * max(0.0, answer.soft_share - 0.5),
        answer.lists,
        answer.turns,
        answer.any("inapt"),
        min(1.0, answer.density("moral")),
        answer.letters < _SHORT,
    ]
    said = [answer.contradicts, answer.explains, answer.late, answer.any("withhold"), answer.any("preface", 1)]
    crossed = [one * other for one, other in product(opens, [*asked, *follows])]
    return [float(value) for value in (*opens, *asked, *follows, *said, *crossed)]


def unseen_model(rows: tuple[Labelled, ...], *, prompts_too: bool) -> list[Extent]:
    """Return what weights say that were learnt from the other models' answers.

    Args:
        rows: all models' answers.
        prompts_too: whether the kind of prompt is held back as well.
    """
    x, y = np.array([features(row) for row in rows]), np.array([EXTENTS.index(row.label) for row in rows])
    model = np.array([row.source for row in rows])
    kind = np.array([_kind(row) for row in rows]) if prompts_too else np.full(len(rows), "all")
    found = np.zeros(len(rows), int)
    for held, of in product(np.unique(model), np.unique(kind)):
        tried = (model == held) & (kind == of)
        learnt = (model != held) & (kind != of) if prompts_too else model != held
        fitted = LogisticRegression(C=STRENGTH, max_iter=5_000).fit(x[learnt], y[learnt])
        found[tried] = fitted.predict(x[tried])
    return [EXTENTS[index] for index in found]


def _kind(row: Labelled) -> str:
    base = row.about.removeprefix("contrast_")
    return "privacy" if base.startswith("privacy") else _GROUPS.get(base, base)
