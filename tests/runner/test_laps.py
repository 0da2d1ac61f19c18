"""The order of a run that may end early: random waves, alike for every variant, clusters kept together."""

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from qeval.engines.work import work_on
from qeval.runner.batches import Limits
from qeval.runner.laps import WAVE_CASES, Sizes, plan_laps
from tests.runner.test_batches import prompt

SUITES = st.dictionaries(st.sampled_from("abc"), st.integers(1, 300), min_size=1)


def prompts_of(suites, cluster=1):
    return [
        prompt(f"c{i:03}", 20 + i % 7, suite=suite, cluster=f"d{i // cluster}")
        for suite, n in suites.items()
        for i in range(n)
    ]


def everything(prompt):
    return True


def sizes(*, in_waves=True, again=None, repeats=1, seed=0):
    return Sizes(Limits(64, 100_000, work_on("cpu")), again or {}, repeats, in_waves, seed)


def keys(lap, repeat=0):
    return [key for batch in lap.batches if batch.repeat == repeat for key in batch.keys]


@settings(max_examples=12)
@given(SUITES, st.integers(1, 5))
def test_every_case_runs_once_in_whole_clusters_and_every_wave_has_its_share_of_every_suite(suites, cluster):
    laps = plan_laps(prompts_of(suites, cluster), everything, sizes())
    assert Counter(key for lap in laps for key in keys(lap)).most_common(1)[0][1] == 1
    total = sum(suites.values())
    assert sum(len(keys(lap)) for lap in laps) == total
    shares = max(1, round(total / WAVE_CASES))
    homes = [{(suite, int(case[1:]) // cluster) for suite, case in keys(lap)} for lap in laps]
    assert sum(map(len, homes)) == len(set.union(*homes))
    for suite, n in suites.items():
        counts = [sum(name == suite for name, _ in keys(lap)) for lap in laps]
        # Waves of one, one, two, four shares and so on.
        parts = [max(0, min(2 ** max(0, i - 1), shares - (2 ** (i - 1) if i else 0))) for i in range(len(laps))]
        assert all(abs(count - n * part / shares) <= 2 * cluster + 1 for count, part in zip(counts, parts, strict=True))


def test_numbers_of_batches_go_on_over_the_waves():
    laps = plan_laps(prompts_of({"a": 500}), everything, sizes())
    numbers = [batch.number for lap in laps for batch in lap.batches if batch.repeat == 0]
    assert len(laps) == 3
    assert numbers == list(range(len(numbers)))


def test_cases_run_again_after_the_first_wave_and_come_from_it():
    laps = plan_laps(prompts_of({"a": 300, "b": 300}), everything, sizes(again={"a": 30, "b": 30}, repeats=2))
    assert len(keys(laps[0], 1)) == len(keys(laps[0], 2)) == 60
    assert set(keys(laps[0], 1)) == set(keys(laps[0], 2)) <= set(keys(laps[0]))
    assert all(not keys(lap, 1) for lap in laps[1:])


def test_waves_follow_the_seed_and_without_early_stopping_there_is_one():
    prompts = prompts_of({"a": 500})
    one, same, other = (plan_laps(prompts, everything, sizes(seed=seed)) for seed in (1, 1, 2))
    assert one == same
    assert set(keys(one[0])) != set(keys(other[0]))
    assert len(plan_laps(prompts, everything, sizes(in_waves=False))) == 1


def test_a_wave_is_no_stretch_of_the_suite():
    laps = plan_laps(prompts_of({"a": 480}), everything, sizes())
    first = sorted(int(case[1:]) for _, case in keys(laps[0]))
    assert first[0] < 40
    assert first[-1] > 440


def test_what_cannot_be_answered_is_written_down_in_its_own_wave():
    prompts = prompts_of({"a": 480})
    laps = plan_laps(prompts, lambda prompt: len(prompt.token_ids) > 20, sizes(again={"a": 30}))
    short = {p.case.id for p in prompts if len(p.token_ids) == 20}
    for lap in laps:
        refused = [batch for batch in lap.batches if {case for _, case in batch.keys} <= short]
        assert sum(len(batch.prompts) for batch in refused) > 10
    assert not short & {case for _, case in keys(laps[0], 1)}
    numbers = [batch.number for lap in laps for batch in lap.batches if batch.repeat == 0]
    assert numbers == list(range(len(numbers)))


def test_a_run_in_which_nothing_fits_has_its_waves():
    laps = plan_laps(prompts_of({"a": 200}), lambda prompt: False, sizes())
    assert sum(len(keys(lap)) for lap in laps) == 200


def test_the_first_wave_is_as_large_as_the_cases_that_run_again_ask_for():
    suites = dict.fromkeys("abcdefghij", 100)
    laps = plan_laps(prompts_of(suites), everything, sizes(again=dict.fromkeys(suites, 30)))
    assert [sum(suite == name for suite, _ in keys(laps[0], 1)) for name in suites] == [30] * 10
    assert len(keys(laps[0])) < 500
    assert len(laps) > 1
