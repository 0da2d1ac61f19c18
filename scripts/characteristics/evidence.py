"""The evidence of `qeval.compare.sequential` at every look of many studies at once.

qeval's functions take one run at a time; millions of looks take arrays. `check` compares the two.
"""

from __future__ import annotations

import numpy as np

from qeval.compare.sequential import confidence_bound, harm_evidence, margin_evidence
from scripts.characteristics.studies import Array, Looks, clusters_at

STEPS = 200
STAKES = 32


def harm(looks: Looks) -> Array:
    """Return `harm_evidence`, [studies, looks]."""
    documents = looks.states.sum(axis=2)
    cluster = documents.shape[2] // 2
    net = np.arange(-cluster, cluster + 1)[:, None]
    p, size = np.linspace(0.5, 1, STEPS + 1), abs(net)
    with np.errstate(divide="ignore"):
        pays = np.maximum(np.log(2 * np.where(net < 0, p, 1 - p) ** size / (p**size + (1 - p) ** size)), -1e4)
    simpson = np.where(np.arange(STEPS + 1) % 2, 4.0, 2.0)
    simpson[[0, -1]] = 1.0
    evidence: Array = np.exp(np.minimum(documents @ pays, 700.0)) @ simpson / (3 * STEPS)
    return evidence


def margin(looks: Looks, delta: float) -> Array:
    """Return `margin_evidence`, [studies, looks]."""
    cluster = looks.states.shape[2]
    largest = ((looks.states.sum(axis=3) > 0) * np.arange(1, cluster + 1)).max(axis=2)[:, :, None]
    stakes = (np.arange(STAKES) + 0.5) / STAKES / (1 - delta)
    log = np.zeros((*looks.n.shape, STAKES))
    for size in range(1, cluster + 1):
        for net in range(-size, size + 1):
            documents = looks.states[:, :, size - 1, net + cluster, None]
            if documents.any():
                # Where a size was not seen yet its gain may ruin a stake, times no document.
                log += documents * np.log1p(np.maximum(stakes * (net + delta * size) / largest, -1 + 1e-12))
    evidence: Array = np.exp(np.minimum(log, 700.0)).mean(axis=2)
    return evidence


def check(looks: Looks, delta: float) -> None:
    """Compare with qeval's own functions early, midway and at the end.

    Raises:
        RuntimeError: they differ by more than a millionth.
    """
    harms, margins = harm(looks), margin(looks, delta)
    last = looks.n.shape[1] - 1
    for study, look in ((0, 0), (1, last // 2), (2, last)):
        sizes, nets = clusters_at(looks, study, look)
        pairs = (
            (harms[study, look], harm_evidence(nets)),
            (margins[study, look], margin_evidence(sizes, nets, delta)),
        )
        for here, there in pairs:
            if not np.isclose(here, there, rtol=1e-6):
                raise RuntimeError(f"evidence {here} here and {there} in qeval.compare.sequential")


def check_bound(looks: Looks, difference: float, alpha: float) -> None:
    """Ask `confidence_bound` at the look of each of 20 studies that speaks loudest against the true difference.

    Raises:
        RuntimeError: it lies above the truth where the evidence does not refute the truth, or the reverse.
    """
    evidence = margin(looks, -difference)[:20]
    for study, look in enumerate(evidence.argmax(axis=1).tolist()):
        low = confidence_bound(*clusters_at(looks, study, look), alpha)
        if (low > difference) != bool(evidence[study, look] >= 1 / alpha):
            raise RuntimeError(f"bound {low} and evidence {evidence[study, look]} against {difference} do not agree")
