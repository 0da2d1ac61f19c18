"""What docs/operating-characteristics.md promises of the interval and the harm alarm, on a coarser grid."""

import pytest

from scripts.coverage import cells, claims, disagreements, sizes, tables


def test_coverage_and_size_keep_what_is_promised():
    pairs = (20, 40, 100, 200)
    broken = [text for text, holds in claims(cells(pairs), sizes(pairs)) if not holds]
    assert not broken


@pytest.mark.parametrize(("n", "flip_rate", "loss_share"), [(20, 0.02, 0.5), (100, 0.4, 0.75), (40, 0.2, 1.0)])
def test_all_tables_together_are_certain(n, flip_rate, loss_share):
    drawn = list(tables(n, flip_rate, loss_share))
    assert sum(p for _, _, p in drawn) == pytest.approx(1, abs=1e-8)
    assert sum(p * (gains - losses) for losses, gains, p in drawn) == pytest.approx(
        n * flip_rate * (1 - 2 * loss_share), abs=1e-6
    )


def test_the_score_and_the_ends_of_the_interval_say_the_same():
    assert disagreements(40, 0.2, 1.0) == 0
