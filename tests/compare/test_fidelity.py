"""Fidelity in the report: what is averaged over what, what is left out, and what stands beside it."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qeval.compare.build import build_report
from qeval.compare.fidelity_result import Divergence
from qeval.compare.policy import Policy
from qeval.errors import UsageError
from qeval.record import FidelityInfo
from tests.factories import FIDELITY, make_outcome, make_record, make_scored

FOUR = {"s": [True, True, False, True]}


def fidelity_of(scored, again=(), *, passes=FOUR, flipped=None, policy=None, **options):
    """The candidate's result, with what it and the baseline scored."""
    before = make_record("fp32", passes, fidelity=FIDELITY, **options)
    after = make_record("nf4", flipped or passes, fidelity=FIDELITY, **options)
    return candidate(before._replace(scored=tuple(again)), after._replace(scored=tuple(scored)), policy)


def candidate(before, after, policy=None):
    return build_report(before, [after], policy or Policy(), created_at="t").candidates[0]


def pool(result):
    assert result.fidelity is not None
    return result.fidelity.slices[0]


def test_the_statistics_by_hand():
    one = make_scored(
        "s",
        "c0000",
        (0.5, 0.1),
        total_variation=(0.2, 0.1),
        reference_logprob=(math.log(0.5), math.log(0.8)),
        logprob=(math.log(0.25), math.log(0.9)),
        entropy=(0.7, 0.3),
        top=(2, 1),
    )
    more = [make_scored("s", "c0001", (0.0, 0.1)), make_scored("s", "c0002", (0.2,)), make_scored("s", "c0003", (0.3,))]
    clusters = {"s": ["a", "b", "b", "c"]}
    seen = pool(fidelity_of([one, *more], clusters=clusters)).statistics
    assert (seen.n_cases, seen.n_tokens, seen.clusters) == (4, 6, 3)
    # As worked in docs/method.md.
    assert (seen.kld_mean, seen.kld_se) == pytest.approx((0.2, math.sqrt(0.21) / 6))
    assert seen.kld_high - seen.kld_mean == pytest.approx(2.919986 * math.sqrt(0.21) / 6, abs=1e-6)
    assert (seen.kld_min, seen.kld_max, seen.same_top_p) == (0.0, 0.5, 5 / 6)
    assert seen.dp_mean == pytest.approx((-0.25 + 0.1) / 6)
    assert seen.dp_rms == pytest.approx(math.sqrt((0.25**2 + 0.1**2) / 6))
    assert (seen.total_variation_mean, seen.expected_acceptance) == pytest.approx((0.05, 0.95))
    assert seen.entropy_mean == pytest.approx((1.0 + 4 * 0.5) / 6)
    assert seen.ln_ppl_ratio == pytest.approx((math.log(2) + math.log(0.8 / 0.9)) / 6)
    assert seen.ppl_q / seen.ppl_base == pytest.approx(math.exp(seen.ln_ppl_ratio))
    assert seen.ppl_base == pytest.approx(math.exp((math.log(2) - math.log(0.8) + 4 * 0.1) / 6))


def test_the_error_of_the_perplexity_ratio_leaves_out_what_both_have_in_common():
    # Hard and easy answers, each 0.01 nats harder for the candidate: the ratio is known exactly.
    scored = [
        make_scored("s", f"c000{i}", (0.1,) * 5, reference_logprob=(-nll,) * 5, logprob=(-nll - 0.01,) * 5)
        for i, nll in enumerate((0.1, 2.0, 0.5, 3.0))
    ]
    seen = pool(fidelity_of(scored)).statistics
    assert (seen.ln_ppl_ratio, seen.ln_ppl_ratio_se) == pytest.approx((0.01, 0.0), abs=1e-12)


@pytest.mark.parametrize(("n", "known"), [(99, False), (100, True)])
def test_percentiles_need_a_hundred_tokens(n, known):
    seen = pool(fidelity_of([make_scored("s", "c0000", [i / 10 for i in range(n)])])).statistics
    named = (seen.kld_median, seen.kld_p90, seen.kld_p95, seen.kld_p99, seen.kld_p999)
    assert named == (pytest.approx((4.95, 8.91, 9.405, 9.801, 9.8901)) if known else (None,) * 5)
    assert seen.kld_max == (n - 1) / 10


def test_failed_scorings_are_counted_by_class_and_in_no_mean():
    scored = [
        make_scored("s", "c0000", (0.4,)),
        make_scored("s", "c0001", (), fault="numeric_error"),
        make_scored("s", "c0002", (), fault="out_of_memory"),
    ]
    result = fidelity_of(scored)
    assert pool(result).faults == {"numeric_error": 1, "out_of_memory": 1}
    assert (pool(result).unscored, pool(result).statistics.kld_mean) == (1, 0.4)
    assert "fidelity leaves out cases, of 4: 1 not scored, 1 numeric_error, 1 out_of_memory" in result.notes


def test_a_slice_in_which_all_scorings_failed_has_no_statistics():
    result = fidelity_of([make_scored("s", f"c000{i}", (), fault="out_of_memory") for i in range(4)])
    assert pool(result).statistics is None
    assert pool(result).faults == {"out_of_memory": 4}


def test_infinite_logits_while_scoring_are_never_accepted():
    many = {"s": [i % 2 == 0 for i in range(300)]}
    fine = [make_scored("s", f"c{i:04}", (0.0,)) for i in range(299)]
    assert fidelity_of(fine, passes=many).decision == "accepted"
    result = fidelity_of([*fine, make_scored("s", "c0299", (), fault="numeric_error")], passes=many)
    assert (result.decision, result.reasons[0]) == (
        "regressed",
        "broken: NaN in 1 case (NaN or infinite logits, where the baseline has none)",
    )


def test_slices_are_the_pool_the_suites_and_the_required_tags():
    passes = {"a": [True, True], "b": [True, True]}
    tags = {"a": [{"lang": "de", "kind": "x"}, {"lang": "en"}], "b": [{"lang": "de"}, {}]}
    scored = [
        make_scored(s, f"c000{i}", (kl,)) for s, i, kl in (("a", 0, 0.1), ("a", 1, 0.2), ("b", 0, 0.3), ("b", 1, 0.4))
    ]
    result = fidelity_of(scored, passes=passes, tags=tags, policy=Policy(required=("lang=de",)))
    found = {(s.slice.label, s.role): s.statistics.kld_mean for s in result.fidelity.slices}
    assert found == pytest.approx(
        {("all", "pool"): 0.25, ("a", "suite"): 0.15, ("b", "suite"): 0.35, ("all/lang=de", "required"): 0.2}
    )


def test_parts_are_cut_by_class_position_and_length_of_the_prompt():
    long = make_scored(
        "s", "c0000", [i / 100 for i in range(70)], classes="d" + "j" * 2 + "t" + "o" * 66, top=(2,) + (1,) * 69
    )
    short = make_scored("s", "c0001", (0.5,))
    outcomes = [
        make_outcome("s", "c0000", True, prompt_tokens=5000),
        make_outcome("s", "c0001", True, prompt_tokens=257),
    ]
    result = fidelity_of([long, short], passes={"s": [True, True]}, outcomes=outcomes)
    cut = {(p.by, p.value): (p.n_cases, p.n_tokens) for p in result.fidelity.parts if p.slice.label == "all"}
    assert cut == {
        ("token_class", "digit"): (1, 1),
        ("token_class", "json"): (1, 2),
        ("token_class", "tool"): (1, 1),
        ("token_class", "other"): (2, 67),
        ("position", "1"): (2, 2),
        ("position", "2-4"): (1, 3),
        ("position", "5-16"): (1, 12),
        ("position", "17-64"): (1, 48),
        ("position", "65+"): (1, 6),
        ("prompt_tokens", "257-1,024"): (1, 1),
        ("prompt_tokens", "4,097-16,384"): (1, 70),
    }
    first = next(p for p in result.fidelity.parts if (p.by, p.value) == ("position", "1"))
    assert (first.kld_mean, first.same_top_p, first.kld_p99) == (0.25, 0.5, None)


@given(st.lists(st.lists(st.floats(0, 1), min_size=1, max_size=80), min_size=1, max_size=4))
def test_the_parts_of_each_kind_hold_every_position_once(answers):
    result = fidelity_of([make_scored("s", f"c000{i}", kl) for i, kl in enumerate(answers)])
    whole = pool(result).statistics
    for by in ("token_class", "position", "prompt_tokens"):
        found = [p for p in result.fidelity.parts if p.by == by and p.slice.label == "all"]
        assert sum(p.n_tokens for p in found) == whole.n_tokens
        assert sum(p.n_tokens * p.kld_mean for p in found) / whole.n_tokens == pytest.approx(whole.kld_mean)


def again(kl, shift, **overrides):
    return make_scored("s", "c0000", (kl,) * 20, repeat=1, shift=(shift,) * 20, **overrides)


def test_the_noise_floor_is_the_larger_of_what_both_variants_do_to_themselves():
    scored = [make_scored("s", "c0000", (0.2,)), again(0.04, -0.3)]
    result = fidelity_of(scored, [again(0.01, 0.1)])
    seen = pool(result)
    assert (seen.baseline_self.kld_mean, seen.candidate_self.kld_mean) == pytest.approx((0.01, 0.04))
    assert seen.over_noise == pytest.approx(0.2 / 0.04)
    assert (result.fidelity.gap_noise, result.fidelity.gap_noise_n) == (pytest.approx(0.3), 40)
    assert seen.statistics.kld_mean == 0.2


def test_a_floor_of_zero_or_from_too_few_positions_gives_no_multiple():
    one = make_scored("s", "c0000", (0.2,))
    assert pool(fidelity_of([one], [again(0.0, 0.0)])).over_noise is None
    few = make_scored("s", "c0000", (0.01,) * 19, repeat=1, shift=(0.3,) * 19)
    result = fidelity_of([one], [few])
    assert (pool(result).over_noise, result.fidelity.gap_noise, result.fidelity.gap_noise_n) == (None, None, 0)
    assert pool(result).baseline_self.n_tokens == 19
    assert pool(fidelity_of([one])).baseline_self is None


def diverging(case, gap):
    return make_scored("s", case, (0.1, 0.2, 0.3), gap=(5.0, gap, 0.0), top=(1, 2, 3), divergence=(" March", " May"))


FLIPS = {"s": [False, False, False, True]}


def divergences(scored, noise=()):
    before = make_record("fp32", FOUR, fidelity=FIDELITY)._replace(scored=tuple(noise))
    after = make_record("nf4", FLIPS, fidelity=FIDELITY)._replace(scored=tuple(scored))
    report = build_report(before, [after], Policy(), created_at="t")
    return {case.case: case.divergence for case in report.changed}, pool(report.candidates[0])


def test_the_first_divergence_of_a_changed_case_is_named_and_near_ties_are_counted_among_flips():
    scored = [diverging("c0000", 0.1), diverging("c0001", 0.11), diverging("c0003", 0.0)]
    found, seen = divergences(scored, [again(0.01, 0.1)])
    assert found == {
        "c0000": Divergence(position=2, baseline_token=" March", candidate_token=" May", gap=0.1, near_tie=True),
        "c0001": Divergence(position=2, baseline_token=" March", candidate_token=" May", gap=0.11, near_tie=False),
    }
    # The third diverges without a flip.
    assert (seen.diverged, seen.flipped, seen.near_ties) == (3, 2, 1)


def test_without_noise_no_near_tie_is_named():
    found, seen = divergences([diverging("c0000", 0.0)])
    assert found["c0000"] == Divergence(
        position=2, baseline_token=" March", candidate_token=" May", gap=0.0, near_tie=None
    )
    assert seen.near_ties is None


def test_an_exact_tie_is_a_near_tie_where_nothing_moves_at_all():
    found, seen = divergences([diverging("c0000", 0.0), diverging("c0001", 1e-9)], [again(0.0, 0.0)])
    assert {name: one and one.near_tie for name, one in found.items()} == {"c0000": True, "c0001": False}
    assert seen.near_ties == 1


def test_a_changed_case_that_nowhere_prefers_another_token_has_no_divergence():
    found, seen = divergences([make_scored("s", "c0000", (0.1,))])
    assert found["c0000"] is None
    assert (seen.diverged, seen.flipped) == (0, 1)


def test_a_lower_bound_is_no_multiple_of_noise_and_exact_noise_does_not_stand_beside_it():
    bound = make_scored("s", "c0000", (0.2,), kind="top_k_bound")
    result = fidelity_of([bound], [again(0.01, 0.1)])
    assert (result.fidelity.kind, pool(result).over_noise, pool(result).baseline_self) == ("top_k_bound", None, None)
    result = fidelity_of([bound, again(0.04, 0.3, kind="top_k_bound")])
    assert (pool(result).over_noise, pool(result).candidate_self.kld_mean) == (None, pytest.approx(0.04))


def test_exact_values_and_lower_bounds_are_never_averaged():
    mixed = [make_scored("s", "c0000", (0.2,)), make_scored("s", "c0001", (0.2,), kind="top_k_bound")]
    with pytest.raises(UsageError, match="record of nf4: exact divergences and lower bounds"):
        fidelity_of(mixed)


def test_an_answer_that_was_scored_twice_is_refused():
    with pytest.raises(UsageError, match=r"case 'c0000' of s, repeat 0, was scored 2 times"):
        fidelity_of([make_scored("s", "c0000", (0.2,))] * 2)


def test_scores_of_other_answers_are_not_shown():
    before = make_record("fp32", FOUR, fidelity=FidelityInfo(reference="cd" * 32))
    after = make_record("nf4", FLIPS, fidelity=FIDELITY)._replace(scored=(diverging("c0000", 0.0),))
    report = build_report(before, [after], Policy(), created_at="t")
    assert report.candidates[0].fidelity is None
    assert report.changed[0].divergence is None
    said = "fidelity is of other answers than the baseline's (digest abababababab, not cdcdcdcdcdcd) and is not shown"
    assert said in report.candidates[0].notes
    assert candidate(make_record("fp32", FOUR), after).fidelity is None


def test_the_digest_and_the_error_of_the_stored_baseline_are_kept():
    info = FidelityInfo(reference=FIDELITY.reference, reconstruction_kl=7e-4)
    after = make_record("nf4", FOUR, fidelity=FIDELITY)._replace(scored=(make_scored("s", "c0000", (0.1,)),))
    seen = candidate(make_record("fp32", FOUR, fidelity=info), after).fidelity
    assert (seen.reference, seen.reconstruction_kl) == (FIDELITY.reference, 7e-4)


def test_where_none_was_measured_nothing_is_added():
    after = make_record("nf4", FOUR)
    result = candidate(make_record("fp32", FOUR, fidelity=FIDELITY), after)
    assert result.fidelity is None
    assert not [note for note in result.notes if "fidelity" in note]
