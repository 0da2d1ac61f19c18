"""The numbers of docs/method.md, worked again step by step, and each of them found on the page."""

import math
from pathlib import Path

import pytest

from qeval.compare.churn import Rate, excess_churn
from qeval.compare.clustered_means import clustered_mean, clustered_share
from qeval.compare.clusters import design_effect, sign_flip_tail
from qeval.compare.distributions import upper_quantile
from qeval.compare.interval import tango, wilson
from qeval.compare.mcnemar import harm_midp, two_sided_exact, upper_tail
from qeval.compare.multiple import holm
from qeval.compare.policy import Policy
from qeval.compare.power import (
    cases_for_margin,
    cases_to_detect,
    repeats_for_margin,
    smallest_detectable,
    smallest_margin,
    zero_flip_floor,
)
from qeval.compare.report import SliceKey
from qeval.compare.sequential import confidence_bound, harm_evidence, margin_evidence
from qeval.compare.shrink import shrink

PAGE = " ".join((Path(__file__).parents[2] / "docs" / "method.md").read_text(encoding="utf-8").split())
Z = upper_quantile(0.05)


def on_page(*texts):
    missing = [text for text in texts if text not in PAGE]
    assert not missing, f"docs/method.md does not say {missing}"


def test_mcnemar_by_counting_coin_tosses():
    ways = {k: math.comb(24, k) for k in range(18, 25)}
    tail = upper_tail(18, 24)
    assert (tail.above + tail.equal, tail.equal, tail.total) == (sum(ways.values()), ways[18], 2**24)
    assert (sum(ways.values()), ways[18]) == (190_051, 134_596)
    assert tail.midp == (190_051 - 67_298) / 16_777_216
    on_page("190,051", "16,777,216", "134,596", f"exact p = {tail.exact:.4f}", f"**{tail.midp:.4f}**")
    on_page(f"exact p is {two_sided_exact(18, 6):.4f}")


def test_the_lower_end_of_tango_by_hand():
    losses, gains, n, d = 18, 6, 500, -0.0417494
    low, high = tango(losses, gains, n, Z)
    assert low == pytest.approx(d, abs=1e-7)
    a, b, c = 2 * n, -(losses + gains) + (2 * n - gains + losses) * d, -losses * d * (1 - d)
    q = (math.sqrt(b * b - 4 * a * c) - b) / (2 * a)
    variance = n * (2 * q + d * (1 - d))
    assert (-12 - n * d) / math.sqrt(variance) == pytest.approx(Z, abs=1e-5)
    on_page(f"A = {a}, B = −{-b:.2f}, C = {c:.4f}, q = {q:.5f}", f"variance is {variance:.2f}")
    on_page(f"**−{-100 * low:.2f} to −{-100 * high:.2f} points**", f"(−12 + {-n * d:.3f}) / {math.sqrt(variance):.3f}")


def test_the_floor():
    closed_form = Z**2 / (200 + Z**2)
    assert tango(0, 0, 200, Z) == pytest.approx((-closed_form, closed_form))
    on_page(f"200 equal pairs exclude a loss beyond {100 * closed_form:.2f} points")
    on_page(f"{zero_flip_floor(0.02)} pairs for 2 points", f"{zero_flip_floor(0.01)} for 1 point")


def test_margins_and_numbers_of_cases():
    def auto(n):
        return f"{100 * Policy().margin_of(SliceKey(suite='s'), n):.1f}"

    on_page(
        f"{auto(33)} points for 33 cases, {auto(200)} for 200",
        f"({auto(30)} points)",
        f"takes {cases_for_margin(0.1, 0.02):,} pairs",
    )
    assert cases_to_detect(0.1, 0.03) == 687
    assert (auto(687), auto(5), auto(600)) == ("3.0", auto(30), "3.2")
    drop = smallest_detectable(0.1, 500)
    assert drop is not None
    on_page(f"{100 * drop:.2f} points for 500 cases")


def test_the_holm_family_by_hand():
    family = {"longdoc": (12, 2), "all": (24, 13), "schema": (6, 4), "toolcalls": (6, 7)}
    p = [harm_midp(*flips) for flips in family.values()]
    by_hand = [4 * p[0], 3 * p[1], 2 * p[2], 1 * p[3]]
    assert by_hand == sorted(by_hand)
    assert holm(p) == pytest.approx(by_hand)
    for rank, ((name, (losses, gains)), one, adjusted) in enumerate(zip(family.items(), p, by_hand, strict=True)):
        on_page(f"| {name} | {losses} | {gains} | {one:.4f} | {rank + 1} | {4 - rank} | {adjusted:.4f} |")


def test_the_documents_that_fail_together():
    nets = [-3, -2, -1, 1] + [0] * 26
    tail = sign_flip_tail(nets)
    assert (tail.above, tail.equal, tail.total) == (1, 2, 16)
    # n = 150, mean = -5/150; without clusters: 7 - 25/150; with: 30/29 * (15 - 25/30).
    effect = 30 / 29 * (15 - 25 / 30) / (7 - 25 / 150)
    assert design_effect([5] * 30, nets, changes=7, squares=7) == pytest.approx(effect)
    on_page(f"**{tail.midp}**", f"been {harm_midp(6, 1):.4f}", f"here {effect:.2f}")


def test_the_sequential_path_by_hand():
    path = [-1, -1, -1, 1, -1, -1, -1, -1, -1, -1]
    rows: dict[str, list[str]] = {name: [] for name in ("ways", "divided by", "e", "mid-p")}
    for m in range(1, 11):
        losses = path[:m].count(-1)
        ways, by = sum(math.comb(m + 1, k) for k in range(losses + 1)), (m + 1) * math.comb(m, losses)
        e = harm_evidence(path[:m])
        assert e == pytest.approx(ways / by, rel=1e-6)
        p = harm_midp(losses, m - losses)
        for row, text in zip(rows.values(), (f"{ways}", f"{by}", f"{e:.2f}", f"{p:.4f}"), strict=True):
            row.append(text)
    on_page(*(f"| {name} | " + " | ".join(row) + " |" for name, row in rows.items()))
    assert [float(p) < 0.05 for p in rows["mid-p"]].index(True) == 6
    on_page(f"it {harm_evidence([*path, -1]):.2f}", f"seven give {(2**8 - 1) / 8:.2f}")
    assert harm_evidence([-1] * 7) == pytest.approx((2**8 - 1) / 8)


def test_a_document_is_one_step():
    # The integral of 4 p^2 / (p^2 + (1-p)^2) over p in (1/2, 1); p = 1/2 + x makes it 4 (1/4 + log(2) / 4).
    by_hand = 1 + math.log(2)
    assert harm_evidence([-2]) == pytest.approx(by_hand)
    on_page(f"**{by_hand:.2f}**", f"one loss ({harm_evidence([-1]):.2f})", f"their own ({harm_evidence([-1, -1]):.2f})")


def test_the_wager_on_the_margin_by_hand():
    stakes = [(k + 0.5) / (32 * 0.97) for k in range(32)]
    by_hand = sum((1 + stake * 0.03) ** 200 for stake in stakes) / 32
    assert margin_evidence([1] * 200, [0] * 200, 0.03) == pytest.approx(by_hand)
    on_page(f"200 equal pairs give {by_hand:.1f} at 3 points")
    assert margin_evidence([1] * 200, [0] * 200, -confidence_bound([1] * 200, [0] * 200, 0.05)) >= 20


def test_the_noise_floor():
    found = excess_churn(Rate(0.10, 320), Rate(1 / 60, 60), Rate(4 / 60, 60), 0.05)
    ends = [wilson(*rate, upper_quantile(0.05)) for rate in ((0.10, 320), (1 / 60, 60), (4 / 60, 60))]
    by_hand = math.hypot(0.10 - ends[0].low, (ends[1].high - 1 / 60) / 2, (ends[2].high - 4 / 60) / 2)
    assert found.estimate - found.low == pytest.approx(by_hand)
    on_page(f"= **{found.estimate:.4f}**", f"**{found.low:.4f}** to {found.high:.4f}")
    on_page(*(f"{part:.4f}²" for part in (0.10 - ends[0].low, ends[1].high - 1 / 60, ends[2].high - 4 / 60)))
    on_page(f"= {100 * smallest_margin(4 / 60, 320):.2f} points with 320 cases")
    on_page(f"{cases_to_detect(4 / 60, 0.02):,}")
    assert (repeats_for_margin(320, 0.044), repeats_for_margin(160, 0.02)) == (30, 160)
    on_page("30 of 320 at a margin of 4.4 points, all of 160 at 2 points")


def test_values_between_0_and_1():
    effect = design_effect([1] * 400, [-0.5] * 20 + [0.5] * 20 + [0] * 360, changes=20, squares=10)
    halves = tango(10 / effect, 10 / effect, 400 / effect, upper_quantile(0.05))
    whole = tango(10, 10, 400, upper_quantile(0.05))
    on_page(f"is {effect:.2f} and", f"± {100 * halves.high:.2f} points", f"± {100 * whole.high:.2f} for")


def test_the_shrunken_language():
    found = shrink([-0.40, -0.02, -0.03, 0.0], [0.12**2] + [0.02**2] * 3)
    on_page(f"**−{-100 * found.effects[0]:.1f}**")


def test_the_divergence_of_four_tokens_with_and_without_the_cut_of_llama_cpp():
    p, q = (0.7, 0.2, 0.09999999, 0.00000001), (0.6, 0.25, 0.1499, 0.0001)
    assert (sum(p), sum(q)) == pytest.approx((1, 1))
    terms = [one * (math.log(one) - math.log(other)) for one, other in zip(p, q, strict=True)]
    uncut = sum(terms)
    cut = sum(term for one, term in zip(p, terms, strict=True) if math.log(one) > -16)
    assert (uncut, cut) == pytest.approx((0.0227968, 0.0227969), abs=1e-7)
    back = [b * math.log(b / a) for a, b in zip(p, q, strict=True)]
    on_page(f"KL(q ‖ p) is **{sum(back):.7f}**", f"D adds {back[3]:.7f}")
    on_page(*(f"{term:.7f} |".replace("-", "−") for term in terms))
    on_page(
        f"KL = **{uncut:.7f}**", f"llama.cpp counts, it is {cut:.7f}", f"ln p = {math.log(p[3]):.2f}".replace("-", "−")
    )
    apart = sum(abs(one - other) for one, other in zip(p, q, strict=True)) / 2
    on_page(f"TV is {apart:.4f} and the expected acceptance {1 - apart:.4f}")


def test_the_clustered_error_by_hand():
    documents = [(0.5, 0.1), (0.0, 0.1, 0.2), (0.3,)]
    found = clustered_mean([sum(one) for one in documents], [len(one) for one in documents], 0.05)
    by_hand = math.sqrt(3 / 2 * (0.2**2 + 0.3**2 + 0.1**2)) / 6
    assert (found.value, found.se) == pytest.approx((0.2, by_hand), abs=1e-6)
    assert found.high is not None
    on_page(f"= **{by_hand:.4f}**", f"± {upper_quantile(0.05, 2):.3f} · SE = ± {found.high - found.value:.4f}")
    flat = [value for one in documents for value in one]
    independent = math.sqrt(sum((value - 0.2) ** 2 for value in flat) / 6 / 5)
    on_page(f"SE would be {independent:.4f}")
    share = clustered_share([7] * 20, [7] * 20, 0.05)
    assert share.low is not None
    on_page(f"{100 * share.low:.1f} to 100 %")
