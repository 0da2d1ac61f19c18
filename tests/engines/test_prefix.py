"""Shared prefixes: cut right, and the answers are those of plain reading."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qeval.engines.base import Prompt
from qeval.engines.prefix import split_prefixes
from qeval.suites.case import Case
from tests.engines.test_transformers import make_engine, quiet

token_rows = st.lists(
    st.tuples(st.integers(0, 3), st.lists(st.integers(0, 2), min_size=1, max_size=12)), min_size=1, max_size=9
)


@given(token_rows)
def test_prefix_and_rest_make_the_row_again_and_a_token_is_left_over(drawn):
    groups = [group for group, _ in drawn]
    rows = [tuple([group] * 8 + row) for group, row in drawn]
    split = split_prefixes(rows, groups)
    if split is None:
        return
    assert [split.prefixes[i] + rest for i, rest in zip(split.prefix_of, split.rests, strict=True)] == rows
    assert all(split.rests)
    assert all(split.prefixes)
    assert len(split.prefixes) == len(set(groups))


def test_rows_without_mates_or_with_little_in_common_are_read_plainly():
    assert split_prefixes([(1, 2, 3), (1, 2, 4)], ["a", "b"]) is None
    assert split_prefixes([(1, 2, 3, 4, 5, 6), (1, 9, 9, 9, 9, 9)], ["a", "a"]) is None
    assert split_prefixes([(1, 2), (5, 6)], ["a", "a"]) is None


def prompts() -> list[Prompt]:
    chance = random.Random(3)
    made = []
    for document in range(3):
        start = tuple(chance.randrange(4, 250) for _ in range(40 + 7 * document))
        for question in range(3 - document):
            case = Case(
                id=f"{document}-{question}",
                messages=[{"role": "user", "content": "x"}],
                graders=[{"kind": "contains", "value": "x"}],
                cluster=f"document-{document}",
                max_new_tokens=6 + question,
            )
            end = tuple(chance.randrange(4, 250) for _ in range(3 + question))
            made.append(Prompt("s", case, start + end, ""))
    return made


def test_shared_and_plain_reading_give_the_same_answers_in_fp32(monkeypatch: pytest.MonkeyPatch):
    engine, asked = make_engine(), prompts()
    assert split_prefixes([p.token_ids for p in asked], [p.case.cluster for p in asked]) is not None
    shared = engine.answer(asked, quiet)
    monkeypatch.setattr(engine, "_full_attention", False)
    plain = engine.answer(asked, quiet)
    assert shared == plain
    assert len({one.token_ids for one in plain}) > 3


def test_prompts_of_two_tenants_share_nothing():
    asked = [p._replace(case=p.case.model_copy(update={"tenant": p.case.id})) for p in prompts()]
    assert make_engine()._read(asked).cache is None
    assert make_engine()._read(prompts()).cache is not None
