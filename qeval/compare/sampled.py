"""pass@k and pass^k of a record whose answers were sampled."""

from __future__ import annotations

from collections import defaultdict

from qeval.compare.passk import pass_at_k, pass_hat_k
from qeval.compare.report import PassAtK
from qeval.record import Record

EVERYTHING = "all"


def sampled_rates(record: Record) -> dict[str, tuple[PassAtK, ...]]:
    """Return the rates per suite and over all, by rising k; empty where decoding was greedy.

    k is 1, 2, 4 and so on, and the number of samples. A case counts for a k of which it has as many graded samples.
    """
    if not record.header.decoding.get("do_sample"):
        return {}
    graded: dict[tuple[str, str], list[bool]] = defaultdict(list)
    for outcome in record.outcomes:
        passed = outcome.passed()
        if passed is not None:
            graded[outcome.suite, outcome.case].append(passed)
    by_suite: dict[str, list[list[bool]]] = defaultdict(list)
    for (suite, _), samples in graded.items():
        by_suite[suite].append(samples)
        by_suite[EVERYTHING].append(samples)
    return {suite: _rates(cases) for suite, cases in sorted(by_suite.items())}


def _rates(cases: list[list[bool]]) -> tuple[PassAtK, ...]:
    most = max(len(samples) for samples in cases)
    ks = sorted({most, *(2**power for power in range(most.bit_length()))})
    return tuple(_rate(k, [samples for samples in cases if len(samples) >= k]) for k in ks)


def _rate(k: int, cases: list[list[bool]]) -> PassAtK:
    counts = [(len(samples), sum(samples)) for samples in cases]
    return PassAtK(
        k=k,
        n=len(cases),
        at_least_one=sum(pass_at_k(n, c, k) for n, c in counts) / len(cases),
        all_of_them=sum(pass_hat_k(n, c, k) for n, c in counts) / len(cases),
    )
