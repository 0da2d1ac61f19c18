from hypothesis import given
from hypothesis import strategies as st

from qeval.engines.base import Prompt
from qeval.runner.batches import batches_digest, plan_batches, plan_self_check
from qeval.suites.case import Case


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
    batches = plan_batches(prompts, batch_size, batch_tokens)
    seen = [key for batch in batches for key in batch.keys]
    assert sorted(seen) == sorted(("s", p.case.id) for p in prompts)
    for batch in batches:
        padded = max(len(p.token_ids) + p.case.max_new_tokens for p in batch.prompts) * len(batch.prompts)
        assert len(batch.prompts) <= batch_size
        assert padded <= batch_tokens or len(batch.prompts) == 1


@given(lengths)
def test_the_plan_does_not_depend_on_the_order_of_the_prompts(sizes):
    prompts = [prompt(f"c{i}", size) for i, size in enumerate(sizes)]
    assert batches_digest(plan_batches(prompts, 4, 2000)) == batches_digest(plan_batches(prompts[::-1], 4, 2000))


def test_prompts_of_two_suites_or_of_very_unlike_length_do_not_share_a_batch():
    prompts = [prompt("a", 90), prompt("b", 80), prompt("c", 20), prompt("d", 85, suite="t")]
    batches = plan_batches(prompts, 8, 10_000)
    assert [[case for _, case in batch.keys] for batch in batches] == [["a", "b"], ["c"], ["d"]]


def test_questions_about_one_document_stay_together():
    prompts = [prompt(f"{d}{q}", 100 + 10 * q + d, cluster=f"document {d}") for q in range(3) for d in range(4)]
    (batch,) = plan_batches(prompts, 12, 100_000)
    documents = [str(p.case.cluster) for p in batch.prompts]
    assert documents == sorted(documents, reverse=True)


def test_the_longest_prompts_run_first():
    batches = plan_batches([prompt("short", 3), prompt("long", 500)], 1, 10_000)
    assert [batch.keys for batch in batches] == [(("s", "long"),), (("s", "short"),)]


def test_the_self_check_takes_its_share_of_each_suite_in_other_batches():
    prompts = [prompt(f"c{i}", 5 + i, suite=suite) for suite in ("a", "b") for i in range(40)]
    first = plan_batches(prompts, 16, 100_000)
    second = plan_self_check(prompts, 0.25, 16, 100_000, seed=0)
    chosen = [key for batch in second for key in batch.keys]
    assert sorted({suite for suite, _ in chosen}) == ["a", "b"]
    assert len(chosen) == len(set(chosen)) == 20
    assert {batch.repeat for batch in second} == {1}
    assert not {frozenset(batch.keys) for batch in second} & {frozenset(batch.keys) for batch in first}


def test_the_self_check_is_the_same_for_the_same_seed_and_another_for_another():
    prompts = [prompt(f"c{i}", 9) for i in range(40)]
    digests = [batches_digest(plan_self_check(prompts, 0.25, 8, 10_000, seed)) for seed in (1, 1, 2)]
    assert digests[0] == digests[1] != digests[2]


def test_no_share_means_no_self_check():
    assert plan_self_check([prompt("c", 9)], 0.0, 8, 10_000, 0) == []
