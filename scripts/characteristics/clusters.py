"""Documents that fail together: tests that take their cases one by one reject too often, qeval's do not."""

from __future__ import annotations

import numpy as np

from qeval.compare.figures import Figures, figures
from qeval.compare.levels import Levels
from scripts.characteristics.studies import Array, Design, outcomes
from scripts.characteristics.tables import show
from scripts.characteristics.whole import whole_counts

DOCUMENTS, QUESTIONS = 40, 5
FLIP_RATE, MARGIN, ALPHA = 0.10, 0.03, 0.05
COPIES = (0.0, 0.5, 0.8)


def judged(befell: Array, by_document: bool) -> Figures:
    """Return qeval's figures of one study, [documents, questions]; else each case is its own cluster."""
    losses, gains, n = int((befell < 0).sum()), int((befell > 0).sum()), befell.size
    nets = befell.sum(axis=1) if by_document else befell.ravel()
    sizes = (befell.shape[1],) * befell.shape[0] if by_document else (1,) * n
    nets_seen = tuple(int(net) for net in nets)
    found = figures(whole_counts(losses, gains, sizes, nets_seen), MARGIN, Levels(ALPHA, ALPHA))
    assert found is not None
    return found


def main(studies: int) -> int:
    """Print the table."""
    rows = []
    for copy in COPIES:
        row = [f"{copy}"]
        for name, difference in (("p_harm", 0.0), ("p_noninferior", -MARGIN)):
            cases = DOCUMENTS * QUESTIONS
            design = Design(FLIP_RATE, difference, cluster=QUESTIONS, copy=copy, cases=cases)
            drawn = outcomes(design, studies, np.random.default_rng(1))
            for by_document in (False, True):
                rejected = sum(getattr(judged(study, by_document), name) <= ALPHA for study in drawn)
                row.append(f"{rejected / studies:.3f}")
        rows.append(row)
    excluded = f"loss of {100 * MARGIN:.0f} points excluded"
    show(
        f"Rejections in {studies} studies of {DOCUMENTS} documents with {QUESTIONS} questions, flip rate "
        f"{FLIP_RATE:.0%}, where at most {ALPHA} is promised",
        [
            "fate shared, chance",
            *(f"{test}, {how}" for test in ("harm", excluded) for how in ("case by case", "by document")),
        ],
        rows,
    )
    return 0
