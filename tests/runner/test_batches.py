from collections.abc import Sequence
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qeval.engines.base import Prompt
from qeval.engines.work import work_on
from qeval.runner.batches import Limits, batches_digest, choose_again, plan_batches, plan_repeat
from qeval.suites.case import Case

WORK = work_on("cpu")


def limits(batch_size: int, batch_tokens: int) -> Limits:
    return Limits(batch_size, batch_tokens, WORK)


def prompt(name: str, tokens: int, limit: int = 8, suite: str = "s", cluster: str | None = None) -> Prompt:
    case = Case(
        id=name,
        messages=[{"role": "user", "content": "x"}],
        graders=[{"kind": "contains", "value": "x"}],
        cluster=cluster,
        max_new_tokens=limit,
    )
    return Prompt(suite, case, tuple(range(tokens)), "x")


lengths = st.lists(st.integers(min_value=1, max_value=900), min_size=1, max_size=60)


@given(lengths, st.integers(min_value=1, max_value=32), st.integers(min_value=1, max_value=4000))
def test_every_prompt_is_in_exactly_one_batch_within_the_limits(sizes, batch_size, batch_tokens):
    prompts = [prompt(f"c{i}", size) for i, size in enumerate(sizes)]
    batches = plan_batches(prompts, limits(batch_size, batch_tokens))
    seen = [key for batch in batches for key in batch.keys]
    assert sorted(seen) == sorted(("s", p.case.id) for p in prompts)
    for batch in batches:
        padded = max(len(p.token_ids) + p.case.max_new_tokens for p in batch.prompts) * len(batch.prompts)
        assert len(batch.prompts) <= batch_size
        assert padded <= batch_tokens or len(batch.prompts) == 1


@given(lengths)
def test_the_plan_does_not_depend_on_the_order_of_the_prompts(sizes):
    prompts = [prompt(f"c{i}", size) for i, size in enumerate(sizes)]
    assert batches_digest(plan_batches(prompts, limits(4, 2000))) == batches_digest(
        plan_batches(prompts[::-1], limits(4, 2000))
    )


def test_prompts_of_very_unlike_limit_or_length_do_not_share_a_batch():
    short = [prompt(f"short{i}", 50, limit=16) for i in range(20)]
    slow = [prompt(f"slow{i}", 50, limit=64) for i in range(20)]
    long = [prompt(f"long{i}", 2000, limit=16) for i in range(4)]
    batches = plan_batches([*short, *slow, *long], limits(64, 100_000))
    assert [{case.rstrip("0123456789") for _, case in batch.keys} for batch in batches] == [
        {"slow"},
        {"long"},
        {"short"},
    ]


def test_few_prompts_of_nearly_the_same_limit_share_a_batch_whatever_their_suite():
    prompts = [prompt(f"{limit}", 50, limit, suite) for suite, limit in (("s", 16), ("s", 18), ("t", 20))]
    (batch,) = plan_batches(prompts, limits(64, 100_000))
    assert len(batch.prompts) == 3


@given(st.lists(st.tuples(st.integers(1, 400), st.integers(1, 60)), min_size=1, max_size=7), st.integers(1, 7))
def test_no_other_way_to_cut_the_ordered_prompts_decodes_at_less_cost(shapes, batch_size):
    prompts = [prompt(f"c{i}", tokens, limit) for i, (tokens, limit) in enumerate(shapes)]
    batches = plan_batches(prompts, limits(batch_size, 10**9))
    ordered = [each for batch in batches for each in batch.prompts]
    ways = product([False, True], repeat=len(ordered) - 1)
    parts = [split_where(ordered, way) for way in ways]
    allowed = [sum(map(cost, way)) for way in parts if max(map(len, way)) <= batch_size]
    assert sum(cost(batch.prompts) for batch in batches) == pytest.approx(min(allowed))


def split_where(ordered: list[Prompt], cuts: tuple[bool, ...]) -> list[list[Prompt]]:
    parts = [[ordered[0]]]
    for cut, each in zip(cuts, ordered[1:], strict=True):
        parts.append([each]) if cut else parts[-1].append(each)
    return parts


def cost(prompts: Sequence[Prompt]) -> float:
    steps = max(each.case.max_new_tokens for each in prompts)
    longest = max(len(each.token_ids) + each.case.max_new_tokens for each in prompts)
    return steps * (WORK.step_rows + len(prompts) * (1 + longest / WORK.row_tokens))


def test_questions_about_one_document_stay_together():
    prompts = [prompt(f"{d}{q}", 100 + 10 * q + d, cluster=f"document {d}") for q in range(3) for d in range(4)]
    (batch,) = plan_batches(prompts, limits(12, 100_000))
    documents = [str(p.case.cluster) for p in batch.prompts]
    assert documents == sorted(documents, reverse=True)


def test_the_longest_prompts_of_a_limit_run_first():
    batches = plan_batches([prompt("short", 3), prompt("long", 500)], limits(1, 10_000))
    assert [batch.keys for batch in batches] == [(("s", "long"),), (("s", "short"),)]


def test_a_repeat_runs_the_chosen_cases_in_other_batches():
    prompts = [prompt(f"c{i}", 5 + i, suite=suite) for suite in ("a", "b") for i in range(40)]
    first = plan_batches(prompts, limits(16, 100_000))
    chosen = choose_again(prompts, {"a": 10, "b": 12}, seed=0)
    repeats = [plan_repeat(chosen, repeat, limits(16, 100_000)) for repeat in (1, 2)]
    for number, batches in enumerate(repeats, 1):
        keys = [key for batch in batches for key in batch.keys]
        assert [sum(suite == name for suite, _ in keys) for name in ("a", "b")] == [10, 12]
        assert len(set(keys)) == 22
        assert {batch.repeat for batch in batches} == {number}
        assert not {frozenset(batch.keys) for batch in batches} & {frozenset(batch.keys) for batch in first}
    assert not {frozenset(batch.keys) for batch in repeats[0]} & {frozenset(batch.keys) for batch in repeats[1]}


def test_the_choice_is_the_same_for_the_same_seed_and_another_for_another():
    prompts = [prompt(f"c{i}", 9) for i in range(40)]
    first, again, other = (choose_again(prompts, {"s": 10}, seed) for seed in (1, 1, 2))
    assert first == again != other


def test_no_suite_gives_more_cases_than_it_has_and_none_where_none_is_asked():
    prompts = [prompt(f"c{i}", 9) for i in range(5)]
    assert len(choose_again(prompts, {"s": 60}, 0)) == 5
    assert choose_again(prompts, {}, 0) == []
