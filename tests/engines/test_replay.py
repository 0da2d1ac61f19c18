"""Replay gives the tokens of plain decoding, whatever answers it is handed and wherever a row leaves them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from qeval.engines.base import Answer, Generation, Prompt, Reading
from qeval.engines.replay import agreed_positions
from qeval.engines.transformers import TransformersEngine
from tests.engines import tokenizers_made_here as made
from tests.engines.test_follow import windowed
from tests.engines.test_transformers import LONG, SHORT, make_engine, make_model, prompt, quiet

ENGINE = make_engine()
PROMPTS = [SHORT, LONG, prompt("longer", list(range(60, 85)), 24)]
PLAIN = ENGINE.answer(PROMPTS, quiet)


def replayed(
    prompts: Sequence[Prompt], answers: Sequence[Answer | None], engine: TransformersEngine = ENGINE
) -> list[Generation]:
    def on_read(reading: Reading) -> list[Generation]:
        reading.follow(answers)
        return reading.replay(quiet)

    return engine.answer(prompts, quiet, on_read)


def own(generation: Generation) -> Answer:
    return Answer(generation.token_ids, ended=generation.finish == "stop")


@st.composite
def changed(draw: st.DrawFn, tokens: tuple[int, ...], limit: int) -> Answer | None:
    """Another variant's answer: the same up to some token, anything after it, at most as long as the limit."""
    if draw(st.booleans()):
        return draw(st.sampled_from([None, Answer(tokens, ended=len(tokens) < limit)]))
    kept = tokens[: draw(st.integers(0, len(tokens)))]
    rest = draw(st.lists(st.integers(2, 259), max_size=limit - len(kept)))
    return Answer((*kept, *rest), ended=len(kept) + len(rest) < limit and draw(st.booleans()))


@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_replay_is_plain_decoding_whatever_the_other_variant_said(data: st.DataObject) -> None:
    answers = [
        data.draw(changed(plain.token_ids, one.case.max_new_tokens)) for one, plain in zip(PROMPTS, PLAIN, strict=True)
    ]
    assert replayed(PROMPTS, answers) == PLAIN


def test_what_agrees_to_the_end_is_not_decoded(monkeypatch: pytest.MonkeyPatch) -> None:
    model = make_model()
    model.generation_config.eos_token_id = [1, PLAIN[2].token_ids[10]]
    engine = make_engine(model)
    plain = engine.answer(PROMPTS, quiet)
    assert {generation.finish for generation in plain} == {"stop", "length"}
    monkeypatch.setattr(engine._decoder, "decode", None)
    assert replayed(PROMPTS, [own(generation) for generation in plain], engine) == plain


def test_only_rows_that_differ_are_decoded_and_only_from_there(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[int, list[tuple[int, ...]]]] = []
    decode = ENGINE._decoder.decode

    def watched(read: Any, cases: Any, on_step: Any, begun: Any) -> Any:
        seen.append((read.cache.layers[0].max_cache_len, [tuple(tokens) for tokens in begun]))
        return decode(read, cases, on_step, begun)

    monkeypatch.setattr(ENGINE._decoder, "decode", watched)
    answers = [own(generation) for generation in PLAIN]
    tokens = answers[2].tokens
    answers[2] = Answer((*tokens[:20], 3 if tokens[20] != 3 else 4, *tokens[21:]), ended=False)
    assert replayed(PROMPTS, answers) == PLAIN
    # Prompt less its last token, twenty agreed, that last token, and room for the other four.
    assert seen == [(24 + 20 + 1 + 4, [tokens[:20]])]


@pytest.mark.parametrize("cut", [0, 1, 3])
def test_a_stop_text_ends_a_replayed_answer_where_it_ends_a_decoded_one(cut: int) -> None:
    text = made.make_tokenizer(made.CHATML).decode(PLAIN[2].token_ids[:12])
    ending = PROMPTS[2].case.model_copy(update={"stop": (text[-3:],)})
    prompts = [SHORT, PROMPTS[2]._replace(case=ending)]
    plain = ENGINE.answer(prompts, quiet)
    assert len(plain[1].token_ids) < 24
    assert plain[1].finish == "stop"
    tokens = plain[1].token_ids[: len(plain[1].token_ids) - cut]
    assert replayed(prompts, [None, Answer(tokens, ended=False)]) == plain


def test_logits_that_are_not_finite_end_a_row_as_they_do_in_decoding() -> None:
    model = make_model()
    engine = make_engine(model)
    answers = [own(generation) for generation in engine.answer([SHORT, LONG], quiet)]
    tokens = answers[0].tokens
    at = next(n for n in range(3, len(tokens)) if tokens[n] not in (*tokens[:n], *SHORT.token_ids))
    with torch.no_grad():
        model.model.embed_tokens.weight[tokens[at]] = float("nan")
    plain = engine.answer([SHORT, LONG], quiet)
    assert plain[0].detail == f"logits of generated token {at + 1} are NaN or infinite"
    # A broken token in what is followed breaks its whole row there; one behind it, only what is decoded.
    for followed in (answers[0], Answer(tokens[:2], ended=True)):
        assert replayed([SHORT, LONG], [followed, answers[1]], engine) == plain


def test_the_head_is_asked_only_as_far_as_rows_agree() -> None:
    asked: list[int] = []

    def head(states: torch.Tensor) -> torch.Tensor:
        asked.append(len(states))
        return states

    wanted = torch.eye(5)[[2] * 100]
    states = [wanted, wanted, wanted[:0]]
    answers = [Answer((2,) * 99, ended=True), Answer((2, 2, 3, *(2,) * 97), ended=False), None]
    assert agreed_positions(head, states, answers, [2]) == [100, 2, 0]
    assert asked == [16, 16, 32, 44]


def test_a_choice_among_broken_logits_agrees_with_nothing() -> None:
    states = [torch.tensor([[0.0, 1.0], [0.0, float("inf")], [0.0, 1.0]])]
    assert agreed_positions(lambda found: found, states, [Answer((1, 1, 1), ended=False)], []) == [1]


def test_a_windowed_cache_cannot_be_replayed_and_says_so() -> None:
    assert make_engine(windowed()).can_replay is False
    assert ENGINE.can_replay is True


def test_prompts_of_one_token_are_decoded() -> None:
    prompts = [prompt("one", [7]), prompt("other", [9])]
    plain = ENGINE.answer(prompts, quiet)
    assert replayed(prompts, [own(generation) for generation in plain]) == plain


def test_a_token_that_ends_only_this_variants_answers_ends_a_replayed_one() -> None:
    model = make_model()
    model.generation_config.eos_token_id = [1, PLAIN[2].token_ids[10]]
    engine = make_engine(model)
    plain = engine.answer(PROMPTS, quiet)
    assert len(plain[2].token_ids) <= 10
    assert replayed(PROMPTS, [own(generation) for generation in PLAIN], engine) == plain


@pytest.mark.parametrize("breaks_off", [False, True])
def test_what_was_followed_leaves_nothing_for_plain_decoding_to_read(breaks_off: bool) -> None:
    model = make_model()
    engine = make_engine(model)
    plain = engine.answer([SHORT, LONG], quiet)
    known = {token for one in plain for token in one.token_ids} | {*SHORT.token_ids, *LONG.token_ids}
    broken = next(token for token in range(2, 260) if token not in known)
    with torch.no_grad():
        model.model.embed_tokens.weight[broken] = float("nan")

    def runs_out(*given: object) -> None:
        raise MemoryError

    def on_read(reading: Reading) -> None:
        answers = [Answer((broken, broken), ended=False)] * 2
        if not breaks_off:
            reading.follow(answers)
            reading.replay(quiet)
            return
        hook = model.model.layers[1].mlp.register_forward_pre_hook(runs_out)
        with pytest.raises(MemoryError):
            reading.follow(answers)
        hook.remove()

    assert engine.answer([SHORT, LONG], quiet, on_read) == plain


def test_read_apart_gives_the_same_answers_and_shares_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    document = list(range(20, 100))
    prompts = [prompt("a", [*document, 5, 7]), prompt("b", [*document, 9])]
    passes: list[int] = []
    engine = make_engine()
    together = engine.answer(prompts, quiet)
    engine.read_apart()
    read = engine._prefill._pass

    def watched(tree: Any, *rest: Any) -> Any:
        passes.append(len(tree.nodes))
        return read(tree, *rest)

    monkeypatch.setattr(engine._prefill, "_pass", watched)
    assert engine.answer(prompts, quiet) == together
    assert passes[0] == 2


@pytest.mark.parametrize("layer", [0, 1])
@pytest.mark.parametrize("again", [False, True])
def test_a_pass_that_breaks_off_leaves_the_batch_as_it_was_read(layer: int, again: bool) -> None:
    model = make_model()
    engine = make_engine(model)
    plain = engine.answer([SHORT, LONG], quiet)
    # Longer than what is decoded later, so that nothing writes over what is left of it.
    answers = [Answer((7, 9) * (one.case.max_new_tokens // 2), ended=False) for one in (SHORT, LONG)]

    def breaks_off(*given: object) -> None:
        raise MemoryError

    def on_read(reading: Reading) -> list[Generation] | None:
        hook = model.model.layers[layer].mlp.register_forward_pre_hook(breaks_off)
        with pytest.raises(MemoryError):
            reading.follow(answers)
        hook.remove()
        assert not reading.followed
        if not again:
            return None
        reading.follow([own(one) for one in plain])
        return reading.replay(quiet)

    assert engine.answer([SHORT, LONG], quiet, on_read) == plain
