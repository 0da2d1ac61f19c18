"""Reading prompts with shared prefixes: every token once, and the answers are those of plain reading."""

from __future__ import annotations

import random
from itertools import takewhile
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from qeval.engines.base import Prompt
from qeval.engines.prefill import Prefill
from qeval.engines.prefix_tree import LEAST_SAVED, prefix_tree
from qeval.engines.work import work_on
from qeval.suites.case import Case
from tests.engines.test_transformers import make_engine, make_model, quiet

# Rows made of long blocks and few letters, so that prefixes of every depth are shared, rows repeat and rows are empty.
blocks = st.lists(st.integers(0, 2).map(lambda letter: (letter,) * 40), max_size=4)
rows_drawn = st.lists(
    st.tuples(blocks, st.lists(st.integers(0, 2), max_size=6)).map(
        lambda parts: tuple(token for block in parts[0] for token in block) + tuple(parts[1])
    ),
    min_size=1,
    max_size=9,
)


@given(rows_drawn, st.data())
def test_the_nodes_on_a_rows_path_are_the_row(rows, data):
    tenants = [data.draw(st.sampled_from([None, "a", "b"])) for _ in rows]
    tree = prefix_tree(rows, tenants)
    for row, leaf in zip(rows, tree.leaves, strict=True):
        path = tree.path(leaf)
        assert tuple(token for node in path for token in tree.nodes[node].tokens) == row
        assert [tree.nodes[node].depth for node in path] == list(range(len(path)))
        assert all(tree.nodes[node].tokens for node in path)


def n_shared(one: tuple[int, ...], other: tuple[int, ...]) -> int:
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


@given(rows_drawn)
def test_no_two_nodes_after_the_same_parent_begin_with_much_the_same_tokens(rows):
    tree = prefix_tree(rows, [None] * len(rows))
    for index, node in enumerate(tree.nodes):
        for other in tree.nodes[:index]:
            if node.parent == other.parent:
                assert n_shared(node.tokens, other.tokens) < LEAST_SAVED
    assert sum(len(node.tokens) for node in tree.nodes) <= sum(map(len, rows))


def test_a_system_text_and_the_documents_after_it_are_each_read_once():
    system, first, second = (1,) * 70, (2,) * 300, (3,) * 200
    rows = [system + document + (9, question) for document in (first, second) for question in range(4)]
    tree = prefix_tree(rows, [None] * len(rows))
    assert sorted(len(node.tokens) for node in tree.nodes) == [1] * 8 + [70, 201, 301]


def test_prompts_of_two_tenants_share_nothing_however_alike():
    rows = [(5,) * 200 + (1,), (5,) * 200 + (2,)]
    assert len(prefix_tree(rows, ["a", "a"]).nodes) == 3
    assert len(prefix_tree(rows, ["a", "b"]).nodes) == 2
    assert len(prefix_tree([rows[0], rows[0]], ["a", None]).nodes) == 2
    assert len(prefix_tree([rows[0], rows[0]], ["", None]).nodes) == 2


def prompts(tenant: str | None = None) -> list[Prompt]:
    chance = random.Random(3)
    system = tuple(chance.randrange(4, 250) for _ in range(70))
    made = []
    for document in range(3):
        start = tuple(chance.randrange(4, 250) for _ in range(40 + 17 * document))
        for question in range(4 - document):
            case = Case(
                id=f"{document}-{question}",
                messages=[{"role": "user", "content": "x"}],
                graders=[{"kind": "contains", "value": "x"}],
                tenant=tenant,
                max_new_tokens=6 + question,
            )
            end = tuple(chance.randrange(4, 250) for _ in range(3 + question))
            made.append(Prompt("s", case, system + start + end, ""))
    lonely = made[0].case.model_copy(update={"id": "lonely"})
    return [*made, Prompt("s", lonely, (7,), ""), Prompt("s", lonely, (7, 9, 30), "")]


@pytest.mark.parametrize("chunk_tokens", [1, 1024])
def test_shared_and_plain_reading_give_the_same_answers_in_fp32(monkeypatch: pytest.MonkeyPatch, chunk_tokens: int):
    engine, asked = make_engine(), prompts()
    small = work_on("cpu")._replace(chunk_tokens=chunk_tokens)
    monkeypatch.setattr(engine._prefill, "_work", small)
    shared = engine.answer(asked, quiet)
    monkeypatch.setattr(engine, "can_replay", False)
    plain = engine.answer(asked, quiet)
    assert shared == plain
    assert len({one.token_ids for one in plain}) > 5


def test_the_cache_holds_what_a_plain_pass_computes_and_zeros_before_it():
    model = make_model().eval()
    rows = [prompt.token_ids for prompt in prompts()]
    cache = Prefill(model, 0, "cpu").read(rows, [None] * len(rows), 4)
    longest = max(map(len, rows))
    with torch.no_grad():
        for index, row in enumerate(rows):
            alone = model(input_ids=torch.tensor([row]), use_cache=True).cache
            for layer, expected in zip(cache.layers, alone.layers, strict=True):
                assert layer.keys.shape[2] == longest + 4
                start = longest - len(row)
                assert torch.allclose(layer.keys[index, :, start:longest], expected.keys[0], atol=1e-5)
                assert torch.allclose(layer.values[index, :, start:longest], expected.values[0], atol=1e-5)
                assert not layer.keys[index, :, : longest - len(row)].any()


def test_tokens_shared_by_many_prompts_pass_through_the_model_once(monkeypatch: pytest.MonkeyPatch):
    model, seen = make_model().eval(), []
    forward = model.model.forward

    def watched(**given: Any) -> Any:
        seen.append(given["input_ids"].numel())
        return forward(**given)

    monkeypatch.setattr(model.model, "forward", watched)
    rows = [prompt.token_ids for prompt in prompts()]
    unique = sum(len(node.tokens) for node in prefix_tree(rows, [None] * len(rows)).nodes)
    Prefill(model, 0, "cpu").read(rows, [None] * len(rows), 0)
    assert unique <= sum(seen) < 0.5 * sum(map(len, rows))


def test_rows_without_tokens_need_no_cache():
    assert Prefill(make_model(), 0, "cpu").read([(), ()], [None, None], 5) is None
