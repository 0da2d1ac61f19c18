"""pass@k and pass^k: of k samples drawn from the n answers to a case, does one pass, or do all?

Both are unbiased estimates from c passes among n independent samples, exact for any k up to n. pass@k: Chen et al. 2021
(arXiv:2107.03374). pass^k: tau-bench (arXiv:2406.12045).
"""

from __future__ import annotations

from math import comb

from qeval.errors import UsageError


def pass_at_k(n: int, c: int, k: int) -> float:
    """Return the chance that at least one of k samples passes, 1 - C(n-c, k) / C(n, k), in [0, 1].

    Args:
        n: samples of the case.
        c: those that passed, 0 to n.
        k: samples drawn, 1 to n.

    Raises:
        UsageError: k is not between 1 and n, or c not between 0 and n.

    >>> round(pass_at_k(10, 3, 5), 6)
    0.916667
    """
    _check(n, c, k)
    # Counted before dividing, so that 0 and 1 are exact.
    return (comb(n, k) - comb(n - c, k)) / comb(n, k)


def pass_hat_k(n: int, c: int, k: int) -> float:
    """Return the chance that all of k samples pass, C(c, k) / C(n, k), in [0, 1]; arguments and errors as pass_at_k.

    >>> round(pass_hat_k(10, 3, 2), 6)
    0.066667
    """
    _check(n, c, k)
    return comb(c, k) / comb(n, k)


def _check(n: int, c: int, k: int) -> None:
    if not 1 <= k <= n:
        raise UsageError(f"k is {k}: it must lie between 1 and the {n} samples of a case. Lower k, or run more.")
    if not 0 <= c <= n:
        raise UsageError(f"{c} of {n} samples cannot have passed.")
