"""Published and independently computed figures, each to its last printed digit."""

import json
import math
from pathlib import Path

import pytest

from qeval.compare.distributions import upper_quantile
from qeval.compare.figures import figures
from qeval.compare.interval import newcombe, noninferiority_p, tango
from qeval.compare.levels import Levels
from qeval.compare.mcnemar import two_sided_exact, two_sided_midp
from qeval.compare.power import cases_to_detect, smallest_detectable, zero_flip_floor
from qeval.compare.sequential import harm_evidence
from qeval.compare.verdict import Adjusted, rule
from scripts.characteristics.whole import whole_counts

FILE = Path(__file__).parents[2].parent / "shared" / "golden.json"
GOLDEN = json.loads(FILE.read_text()) if FILE.is_file() else None
pytestmark = pytest.mark.skipif(GOLDEN is None, reason=f"{FILE} is not beside this checkout")


def entries(section):
    return (GOLDEN or {}).get(section, [])


def printed(value):
    """One unit in the last digit of a figure as the file prints it."""
    text = repr(value)
    return 10.0 ** -len(text.partition(".")[2]) * (1 + 1e-9)


def close(got, want):
    return abs(got - want) <= printed(want)


def flips(entry) -> tuple[int, int, int]:
    if "table" not in entry:
        return entry["L"], entry["G"], entry["n"]
    (a, b), (c, d) = entry["table"]
    return c, b, a + b + c + d


def ruling(losses, gains, n, margin, harm_p_adjusted=None):
    nets = (-1,) * losses + (1,) * gains + (0,) * (n - losses - gains)
    found = figures(whole_counts(losses, gains, (1,) * n, nets), margin, Levels(0.05, 0.05))
    assert found is not None
    return rule(found, Adjusted(harm_p_adjusted or found.p_harm, found.p_gain), margin, alpha=0.05)


@pytest.mark.parametrize("entry", entries("mcnemar"), ids=str)
def test_mcnemar(entry):
    assert close(two_sided_exact(entry["L"], entry["G"]), entry["two_sided_exact"])
    if "two_sided_midp" in entry:
        assert close(two_sided_midp(entry["L"], entry["G"]), entry["two_sided_midp"])


@pytest.mark.parametrize("entry", entries("paired_interval"), ids=str)
def test_paired_interval(entry):
    low, high = tango(*flips(entry), quantile=upper_quantile((1 - entry["level"]) / 2))
    if "tango" in entry:
        assert close(low, entry["tango"][0])
        assert close(high, entry["tango"][1])
    if "tango_low" in entry:
        assert close(low, entry["tango_low"])
    if "newcombe10" in entry:
        (a, b), (c, d) = entry["table"]
        low, high = newcombe(a, b, c, d, entry["level"])
        assert close(low, entry["newcombe10"][0])
        assert close(high, entry["newcombe10"][1])


@pytest.mark.parametrize("entry", entries("verdict"), ids=str)
def test_verdict(entry):
    got = ruling(entry["L"], entry["G"], entry["n"], entry["margin"], entry.get("harm_p_adjusted"))
    assert got == entry["verdict"]


@pytest.mark.parametrize("entry", entries("floors"), ids=str)
def test_zero_flips_still_need_a_floor_of_cases(entry):
    n, margin = entry["n_with_zero_flips"], entry["margin"]
    assert zero_flip_floor(margin) == n
    assert ruling(0, 0, n, margin) == "equivalent"
    assert ruling(0, 0, n - 1, margin) == "inconclusive"
    assert noninferiority_p(0, 0, n, margin) < 0.05 < noninferiority_p(0, 0, n - 1, margin)


@pytest.mark.parametrize("entry", entries("power"), ids=str)
def test_power(entry):
    got = cases_to_detect(entry["omega2"], entry["margin"], entry["alpha"], power=entry["power"], sides=entry["sides"])
    assert got == entry["n"]


@pytest.mark.parametrize("entry", entries("mde_points"), ids=str)
def test_smallest_detectable(entry):
    drop = smallest_detectable(entry["psi"], entry["n"])
    assert drop is not None
    assert close(100 * drop, entry["mde"])


@pytest.mark.parametrize("entry", entries("e_value_harm"), ids=str)
def test_evidence_of_harm(entry):
    assert close(harm_evidence([-1] * entry["L"] + [1] * entry["G"]), entry["e"])


def test_the_printed_unit_is_that_of_the_last_digit():
    assert math.isclose(printed(0.0227), 0.0001, rel_tol=1e-6)
