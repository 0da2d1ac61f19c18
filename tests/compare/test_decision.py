"""Limits in whole counts, and the order in which what is wrong decides."""

import itertools

import pytest

from qeval.compare.build import build_report
from qeval.compare.decision import EXIT_CODES, WORST_FIRST, worst, worst_code
from qeval.compare.policy import Policy
from qeval.errors import ExitCode, UsageError
from tests.factories import make_outcome, make_proof, make_record

WIDE = {"margins": {"pool": 0.2, "suites": {"s": 0.2}}}
HALF = {"s": [i % 2 == 0 for i in range(200)]}


def decide(baseline, candidate, **policy):
    report = build_report(baseline, [candidate], Policy(**policy), created_at="t")
    assert report.exit_code == EXIT_CODES[report.candidates[0].decision]
    return report.candidates[0]


def record(name, passed, n=100, suite="s"):
    return make_record(name, {suite: [i < passed for i in range(n)]})


def test_the_order_of_exit_codes_is_the_documented_one():
    assert [int(code) for code in WORST_FIRST] == [130, 2, 4, 5, 1, 3, 0]
    for one, other in itertools.combinations(WORST_FIRST, 2):
        assert worst_code([other, one, other]) == one
    assert worst(["accepted", "inconclusive", "incomplete", "regressed"]) == "incomplete"
    assert set(EXIT_CODES.values()) | {ExitCode.INTERRUPTED, ExitCode.USAGE} == set(WORST_FIRST)


@pytest.mark.parametrize(
    ("limits", "candidate", "decision", "said"),
    [
        ({"max_net_loss": 0.02}, 78, "accepted", "net loss 2 of 100 cases, allowed 2 (max_net_loss 0.02)"),
        ({"max_net_loss": 0.02}, 77, "regressed", "net loss 3 of 100 cases, allowed 2 (max_net_loss 0.02)"),
        ({"max_net_loss": 0}, 81, "accepted", "net loss -1 of 100 cases, allowed 0 (max_net_loss 0)"),
        ({"min_pass_rate": 0.78}, 78, "accepted", "passes 78 of 100 cases, needed 78 (min_pass_rate 0.78)"),
        ({"min_pass_rate": 0.781}, 78, "regressed", "passes 78 of 100 cases, needed 79 (min_pass_rate 0.781)"),
        ({"min_pass_rate": {"s": 0.9}}, 78, "regressed", "passes 78 of 100 cases, needed 90 (min_pass_rate 0.9)"),
        ({"max_net_loss": {"all": 0.5, "s": 0}}, 79, "regressed", "net loss 1 of 100 cases, allowed 0"),
    ],
)
def test_hard_limits_hold_in_whole_counts(limits, candidate, decision, said):
    result = decide(record("fp32", 80), record("int8", candidate), limits=limits, **WIDE)
    assert result.decision == decision
    assert any(said in limit.text for limit in result.limits)
    assert decision == "accepted" or said in result.reasons[0]


@pytest.mark.parametrize(
    ("limits", "candidate", "broken", "said"),
    [
        # Of 75 cases .02 are one and a half: one may be lost, two may not.
        ({"max_net_loss": 0.02}, 59, False, "net loss 1 of 75 cases, allowed 1"),
        ({"max_net_loss": 0.02}, 58, True, "net loss 2 of 75 cases, allowed 1"),
        # .9 of them are 67.5: 67 are too few.
        ({"min_pass_rate": 0.9}, 67, True, "passes 67 of 75 cases, needed 68"),
        ({"min_pass_rate": 0.9}, 68, False, "passes 68 of 75 cases, needed 68"),
    ],
)
def test_a_limit_between_two_counts_is_the_stricter_one(limits, candidate, broken, said):
    result = decide(record("fp32", 60, 75), record("int8", candidate, 75), limits=limits, **WIDE)
    found = [(limit.broken, limit.text.split(" (")[0]) for limit in result.limits if limit.name in limits]
    assert found == [(broken, said)]


@pytest.mark.parametrize(("scored", "broken"), [(67, True), (68, False)])
def test_a_share_of_scored_cases_between_two_counts_is_the_stricter_one(scored, broken):
    some = make_record("int8", {"s": [i < 60 if i < scored else None for i in range(75)]})
    result = decide(record("fp32", 60, 75), some, limits={"min_scored": 0.9}, **WIDE)
    assert [limit.broken for limit in result.limits if limit.name == "min_scored"] == [broken]


@pytest.mark.parametrize(("passed", "floor"), [(200, False), (199, True)])
def test_the_floor_of_a_baseline_lies_below_a_fifth(passed, floor):
    row = decide(record("fp32", passed, 1000), record("int8", passed - 1, 1000), **WIDE).verdicts[0]
    assert ("baseline_floor" in row.flags, row.ruling) == (floor, "inconclusive" if floor else "equivalent")


def test_a_limit_can_only_make_a_decision_worse():
    result = decide(record("fp32", 80), record("int8", 10), limits={"max_net_loss": 1, "min_pass_rate": 0}, **WIDE)
    assert result.decision == "regressed"


@pytest.mark.parametrize(("lost", "decision"), [(10, "inconclusive"), (11, "incomplete")])
def test_fewer_scored_cases_than_asked_for_are_incomplete(lost, decision):
    rows = {"s": [None] * lost + [True] * (200 - lost)}
    result = decide(make_record("fp32", {"s": [True] * 200}), make_record("int8", rows))
    assert result.decision == decision
    assert result.limits[0].text == f"{200 - lost} of 200 cases scored in both, needed 190 (min_scored 0.95)"


def test_missing_answers_that_would_decide_are_inconclusive_and_counted_by_class():
    rows = {"s": [None] * 3 + HALF["s"][3:]}
    result = decide(make_record("fp32", {"s": [True] * 3 + HALF["s"][3:]}), make_record("int8", rows))
    pool = result.verdicts[0]
    assert (result.decision, pool.ruling, pool.unanswered) == ("inconclusive", "inconclusive", {"timeout": 3})
    assert "unanswered_decides" in pool.flags
    assert "the cases without an answer decide" in result.reasons[0]


def test_missing_answers_that_change_nothing_leave_the_ruling():
    rows = {"s": [None] * 3 + HALF["s"][3:]}
    result = decide(make_record("fp32", HALF), make_record("int8", rows), **WIDE)
    assert (result.decision, result.verdicts[0].n, result.verdicts[0].planned) == ("accepted", 197, 200)


def with_nan(record, n, repeat=0):
    broken = [make_outcome("s", f"c{i:04}", None, status="numeric_error", repeat=repeat) for i in range(n)]
    hit = {(outcome.case, outcome.repeat) for outcome in broken}
    kept = [outcome for outcome in record.outcomes if (outcome.case, outcome.repeat) not in hit]
    return record._replace(outcomes=(*kept, *broken))


@pytest.mark.parametrize("repeat", [0, 1])
@pytest.mark.parametrize(("n", "said"), [(1, "1 case "), (20, "20 cases "), (200, "200 cases ")])
def test_nan_where_the_baseline_has_none_is_harm(n, said, repeat):
    """D40: also where so many cases have no answer that data would be missing."""
    result = decide(make_record("fp32", HALF), with_nan(make_record("int8", HALF), n, repeat), **WIDE)
    assert result.decision == "regressed"
    assert result.reasons == (f"broken: NaN in {said}(NaN or infinite logits, where the baseline has none)",)


def test_nan_that_the_baseline_has_too_is_never_accepted():
    both = (with_nan(make_record(name, HALF), 3) for name in ("fp32", "int8"))
    result = decide(*both, **WIDE)
    assert result.decision == "inconclusive"
    assert "NaN or infinite logits in 3 cases, as in the baseline" in result.reasons[0]
    more = decide(with_nan(make_record("fp32", HALF), 3), with_nan(make_record("int8", HALF), 5), **WIDE)
    assert more.reasons[0].startswith("broken: NaN in 2 cases ")


def test_records_that_do_not_compare_show_no_harm_by_nan():
    other = make_record("int8", HALF, decoding={"do_sample": True})
    assert decide(make_record("fp32", HALF), with_nan(other, 20), **WIDE).decision == "not_comparable"


@pytest.mark.parametrize("passed", [0, 1, 30, 39])
def test_equal_tokens_are_accepted_however_rarely_they_pass(passed):
    """D40: no case can have flipped."""
    rows = {"s": [i < passed for i in range(200)]}
    result = decide(make_record("fp32", rows), make_record("int8", rows))
    assert (result.decision, result.identical) == ("accepted", True)
    assert result.verdicts[0].ruling == "equivalent"


def test_equal_tokens_are_accepted_where_a_variant_is_noisy():
    """The baseline flips against itself when its batches change; the candidate gave the same tokens."""
    rows = {"s": [i % 2 == 0 for i in range(300)]}
    again = {"s": [i % 4 < 2 for i in range(300)]}
    noisy = make_record("bf16", rows, repeats=again)
    assert "margin_in_noise" not in decide(noisy, make_record("int8", rows, repeats=again)).verdicts[0].flags
    changed = {"s": [False, *rows["s"][1:]]}
    assert "margin_in_noise" in decide(noisy, make_record("int8", changed, repeats=again)).verdicts[0].flags


def test_equal_tokens_of_few_cases_still_leave_doubt():
    """Sixty cases without a flip exclude a loss of 4 points, not of 2."""
    rows = {"s": [True] * 60}
    assert decide(make_record("fp32", rows), make_record("int8", rows)).decision == "inconclusive"


@pytest.mark.parametrize("lost", [0, 6, 10, 14, 24])
def test_one_table_of_counts_has_one_ruling(lost):
    """D40: the only grader's own metric has the counts of `pass`, in a family of another size."""
    suites = {name: [True] * 100 for name in "abcdefgh"}
    candidate = make_record("int8", suites | {"a": [i >= lost for i in range(100)]})
    verdicts = decide(make_record("fp32", suites), candidate).verdicts
    rows = {v.metric: v for v in verdicts if v.slice.suite == "a" and v.slice.tag is None}
    assert rows["contains"].ruling == rows["pass"].ruling
    assert rows["contains"].p_harm_adjusted == rows["pass"].p_harm_adjusted
    assert (rows["contains"].role, rows["contains"].level) == ("exploratory", "advisory")


@pytest.mark.parametrize("state", ["crashed", "out_of_memory", "timeout", "interrupted", "running", "unsupported"])
@pytest.mark.parametrize("role", ["baseline", "candidate"])
def test_a_record_that_did_not_finish_is_incomplete(state, role):
    half = make_record(role, HALF, state=state, state_detail="killed by signal 9")
    half = half._replace(outcomes=half.outcomes[:150])
    whole = make_record("whole", HALF)
    result = decide(*((half, whole) if role == "baseline" else (whole, half)))
    assert result.decision == "incomplete"
    assert result.reasons[0] == f"the {role} {role} is {state}, 150 of 200 cases done: killed by signal 9"


def test_a_record_that_lost_some_of_its_list_of_cases_is_incomplete():
    whole, cut = make_record("fp32", HALF), make_record("int8", HALF)
    result = decide(whole, cut._replace(cases=cut.cases[:150]))
    assert result.decision == "incomplete"
    assert result.reasons[0] == "the candidate's record lists 150 of the 200 cases of s; run it again"


def test_a_critical_suite_that_regressed_fails_the_candidate_whatever_the_pool_says():
    many = {name: [True] * 300 for name in ("a", "b", "c", "d")}
    broken = {**many, "d": [i >= 40 for i in range(300)]}
    result = decide(make_record("fp32", many), make_record("int8", broken), margins={"pool": 0.1})
    assert {v.slice.label: v.ruling for v in result.verdicts if v.metric == "pass"}["all"] == "equivalent"
    assert result.decision == "regressed"
    assert result.reasons[0].startswith("d: a loss is proven")
    advisory = decide(
        make_record("fp32", many), make_record("int8", broken), margins={"pool": 0.1}, level={"d": "advisory"}
    )
    assert advisory.decision == "accepted"


def test_an_exploratory_slice_never_gates_but_is_said():
    tags = {"s": [{"lang": "de" if i < 60 else "fr"} for i in range(600)]}
    worse = {"s": [not i < 12 for i in range(600)]}
    args = (make_record("fp32", {"s": [True] * 600}, tags=tags), make_record("int8", worse, tags=tags))
    lang = "s/lang=de"
    shown = decide(*args, margins={"pool": 0.04, "suites": {"s": 0.04}})
    assert shown.decision == "accepted"
    assert f"exploratory slice {lang} (pass) regressed; it does not gate" in shown.notes
    gating = decide(*args, margins={"pool": 0.04, "suites": {"s": 0.04}}, required=("lang=de",))
    assert gating.decision == "regressed"
    assert gating.reasons[0].startswith("all/lang=de: a loss is proven")


def test_where_the_baseline_hardly_passes_nothing_is_equivalent():
    rows = {"s": [i < 30 for i in range(200)]}
    candidate = make_record("int8", rows)
    # Wrong in other words: what cannot pass could not be seen to be lost.
    outcomes = [o if o.passed() else o.model_copy(update={"token_ids": (1, 2)}) for o in candidate.outcomes]
    result = decide(make_record("fp32", rows), candidate._replace(outcomes=tuple(outcomes)))
    assert result.decision == "inconclusive"
    assert "the baseline passes under 20 % here" in result.reasons[0]
    assert "baseline_floor" in result.verdicts[0].flags
    assert result.verdicts[0].cases_needed is None


def test_a_gain_over_a_baseline_that_hardly_passes_is_not_enough():
    better = {"s": [True] * 200}
    result = decide(make_record("fp32", {"s": [i < 30 for i in range(200)]}), make_record("int8", better))
    assert (result.verdicts[0].ruling, result.decision) == ("improved", "inconclusive")


def test_a_suite_under_thirty_cases_gates_only_if_named():
    rows = {"big": HALF["s"], "small": [i % 2 == 0 for i in range(20)]}
    worse = {**rows, "small": [False] * 20}
    args = (make_record("fp32", rows), make_record("int8", worse))
    wide = {"pool": 0.2}
    free = decide(*args, margins=wide)
    small = next(v for v in free.verdicts if v.slice.label == "small" and v.metric == "pass")
    assert (small.ruling, small.level, "too_few" in small.flags) == ("inconclusive", "advisory", True)
    assert free.decision == "accepted"
    assert "suite small has under 30 cases and does not gate" in free.notes[0]
    assert decide(*args, margins=wide, required=("small",)).decision == "regressed"
    assert decide(*args, margins=wide, level={"small": "critical"}).decision == "regressed"


def test_fewer_than_ten_clusters_say_nothing():
    clusters = {"s": [f"doc{i % 9}" for i in range(200)]}
    args = [make_record(name, HALF, clusters=clusters) for name in ("fp32", "int8")]
    result = decide(*args)
    assert result.decision == "inconclusive"
    assert (result.verdicts[0].clusters, "few_clusters" in result.verdicts[0].flags) == (9, True)
    clusters = {"s": [f"doc{i % 10}" for i in range(200)]}
    assert decide(*[make_record(name, HALF, clusters=clusters) for name in ("fp32", "int8")]).decision == "accepted"


def test_few_clusters_widen_the_interval_by_students_t():
    def low(clusters):
        rows = {"s": [f"doc{i % clusters}" for i in range(200)]}
        return decide(*[make_record(name, HALF, clusters=rows) for name in ("fp32", "int8")]).verdicts[0].low

    t29, z = 1.699127, 1.644854
    assert low(30) == pytest.approx(-(t29**2) / (200 + t29**2), abs=1e-6)
    assert low(40) == low(200) == pytest.approx(-(z**2) / (200 + z**2), abs=1e-6)


def test_losses_in_one_document_weigh_less_than_losses_all_over():
    rows, worse = {"s": [True] * 200}, {"s": [i >= 10 for i in range(200)]}
    by_document = {"s": [f"doc{i // 10}" for i in range(200)]}
    spread = decide(make_record("fp32", rows), make_record("int8", worse)).verdicts[0]
    together = decide(
        make_record("fp32", rows, clusters=by_document), make_record("int8", worse, clusters=by_document)
    ).verdicts[0]
    assert (spread.ruling, together.ruling) == ("regressed", "inconclusive")
    assert together.p_harm == pytest.approx(0.25)
    assert together.low < spread.low


def test_flips_within_the_noise_are_said_to_be():
    flipped = {"s": [not right if i in {1, 2} else right for i, right in enumerate(HALF["s"])]}
    base, cand = make_record("fp32", HALF, repeats=flipped), make_record("int8", flipped, repeats=HALF)
    result = decide(base, cand, **WIDE)
    pool = result.verdicts[0]
    assert "within_noise" in pool.flags
    assert (pool.baseline_self.n, pool.baseline_self.flips, pool.candidate_self.flips) == (200, 2, 2)
    assert any("no more often than the two variants flip against themselves" in note for note in result.notes)
    calm = make_record("fp32", HALF, repeats=HALF), make_record("int8", flipped, repeats=flipped)
    assert "within_noise" not in decide(*calm, **WIDE).verdicts[0].flags


def test_only_candidates_that_the_policy_requires_decide_the_run():
    base, same, broken = record("fp32", 200, 200), record("int8", 200, 200), record("nf4", 100, 200)
    build = lambda **options: build_report(base, [same, broken], created_at="t", **options)  # noqa: E731
    assert build(policy=Policy()).exit_code == 1
    assert build(policy=Policy(candidates_required=("int8",))).exit_code == 0
    assert build(policy=Policy(), required={"int8"}).exit_code == 0
    with pytest.raises(UsageError, match="requires candidate 'int4'"):
        build(policy=Policy(candidates_required=("int4",)))
    with pytest.raises(UsageError, match=r"required candidates \['int4'\]: this run has int8, nf4"):
        build(policy=Policy(), required={"int4"})


def test_a_candidate_without_a_record_is_incomplete():
    report = build_report(
        record("fp32", 200, 200), [], Policy(), created_at="t", missing={"nf4": "the process was killed"}
    )
    assert (report.decision, report.exit_code) == ("incomplete", 5)
    assert report.candidates[0].reasons == ("no record: the process was killed",)


def test_a_comparison_without_candidates_or_with_one_twice_is_refused():
    base = record("fp32", 80)
    with pytest.raises(UsageError, match="nothing to compare"):
        build_report(base, [], Policy(), created_at="t")
    with pytest.raises(UsageError, match="given twice"):
        build_report(base, [record("int8", 80), record("int8", 80)], Policy(), created_at="t")


@pytest.mark.parametrize(
    "policy",
    [
        {"required": ("lang=xx",)},
        {"required": ("typo",)},
        {"margins": {"suites": {"typo": 0.1}}},
        {"limits": {"max_net_loss": {"typo": 0.1}}},
        {"level": {"typo": "critical"}},
    ],
)
def test_a_name_that_the_records_lack_is_incomplete_not_a_pass(policy):
    result = decide(make_record("fp32", HALF), make_record("int8", HALF), **policy)
    assert result.decision == "incomplete"
    assert "no data" in result.reasons[0]


def test_other_metrics_are_advisory_and_in_no_family():
    result = decide(make_record("fp32", HALF), make_record("int8", HALF))
    rows = [verdict for verdict in result.verdicts if verdict.metric == "contains"]
    assert [(row.slice.label, row.role, row.level) for row in rows] == [("s", "exploratory", "advisory")]


def test_a_lone_suite_does_not_pay_twice_in_the_family():
    verdicts = decide(record("fp32", 80), record("int8", 74)).verdicts
    assert verdicts[0].p_harm_adjusted == verdicts[1].p_harm_adjusted == verdicts[0].p_harm


class TestTheBestOfSeveral:
    """`candidates_required: best`: one accepted candidate is enough, and pays for the choice."""

    BASE = make_record("fp32", {"s": [True] * 400})

    def candidates(self, **lost):
        return [
            make_record(
                name,
                {"s": [i >= n for i in range(400)]},
                proof=make_proof(storage_bytes={"int8": 800, "nf4": 450}.get(name, 900)),
            )
            for name, n in lost.items()
        ]

    def run(self, *, best=True, **lost):
        policy = Policy(candidates_required="best" if best else "all")
        return build_report(self.BASE, self.candidates(**lost), policy, created_at="t")

    def test_the_smallest_accepted_one_is_taken(self):
        report = self.run(int8=0, nf4=0, int2=200)
        assert (report.decision, report.exit_code, report.picked) == ("accepted", 0, "nf4")
        assert self.run(best=False, int8=0, nf4=0, int2=200).exit_code == 1

    def test_alpha_is_shared_out(self):
        # Of 400 pairs with 2 losses the interval's low end is -1.50 points at 90 %, -2.03 at 1 - 2 * .05 / 5.
        alone, many = self.run(int8=2), self.run(int8=2, a=200, b=200, c=200, d=200)
        assert alone.picked == "int8"
        assert many.picked is None
        assert many.decision == "inconclusive"

    def test_all_regressed_is_regressed_and_one_open_is_open(self):
        assert self.run(int8=100, nf4=200).decision == "regressed"
        assert self.run(int8=4, nf4=200).decision == "inconclusive"

    def test_a_missing_one_may_still_be_accepted(self):
        report = build_report(
            self.BASE,
            self.candidates(int8=100),
            Policy(candidates_required="best"),
            created_at="t",
            missing={"nf4": "crashed"},
        )
        assert report.decision == "incomplete"


def test_a_missing_answer_between_two_passes_leaves_the_lesser_one():
    # 5 gains of 100 and one unanswered: improved without it, equivalent with it as a loss.
    before = [i >= 5 for i in range(100)]
    after = [True] * 5 + [None] + [True] * 94
    result = decide(make_record("a", {"s": before}), make_record("b", {"s": after}), margins={"pool": 0.05})
    pool = result.verdicts[0]
    assert (pool.ruling, "unanswered_decides" in pool.flags) == ("equivalent", False)
