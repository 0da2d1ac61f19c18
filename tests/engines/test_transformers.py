"""The transformers engine on a tiny Llama made in code: padding, limits, end tokens, broken logits."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from transformers import GenerationConfig, LlamaConfig, LlamaForCausalLM

from qeval.engines.base import Generation, Prompt
from qeval.engines.transformers import TransformersEngine, end_token_ids
from qeval.suites.case import Case
from tests.engines import tokenizers_made_here as made


def make_model(**generation: Any) -> LlamaForCausalLM:
    torch.manual_seed(7)
    config = LlamaConfig(
        vocab_size=260,
        hidden_size=64,
        intermediate_size=96,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=256,
        initializer_range=0.3,
        bos_token_id=0,
        eos_token_id=1,
        pad_token_id=None,
    )
    model = LlamaForCausalLM(config)
    model.generation_config = GenerationConfig(eos_token_id=1, **generation)
    return model


def make_engine(model: Any = None, **special: Any) -> TransformersEngine:
    return TransformersEngine(model or make_model(), made.make_tokenizer(made.CHATML, **special), "cpu")


def prompt(name: str, ids: list[int], limit: int = 8) -> Prompt:
    case = Case(
        id=name,
        messages=[{"role": "user", "content": "x"}],
        graders=[{"kind": "contains", "value": "x"}],
        max_new_tokens=limit,
    )
    return Prompt("s", case, tuple(ids), "x")


def quiet(_: int) -> None:
    return


SHORT, LONG = prompt("short", [5, 9, 30]), prompt("long", list(range(40, 51)))


def test_c41_batch_one_and_batch_two_give_the_same_tokens_in_fp32() -> None:
    engine = make_engine()
    alone = [engine.answer([each], quiet)[0] for each in (SHORT, LONG)]
    together = engine.answer([SHORT, LONG], quiet)
    assert [one.token_ids for one in alone] == [one.token_ids for one in together]
    assert all(len(one.token_ids) > 2 for one in alone)


def test_c41_a_tokenizer_without_pad_token_runs_and_the_choice_is_recorded() -> None:
    engine = make_engine()
    assert engine.rendering.pad_token == "</s>"


def test_c41_a_right_padding_tokenizer_changes_nothing() -> None:
    assert make_engine(padding_side="right").answer([SHORT, LONG], quiet) == make_engine().answer([SHORT, LONG], quiet)


def test_c41_an_end_token_inside_the_prompt_or_its_padding_ends_nothing() -> None:
    engine = make_engine()
    with_end = prompt("ends", [5, 1, 9, 30])
    assert len(engine.answer([with_end, LONG], quiet)[0].token_ids) > 2


def test_c41_a_row_that_ends_early_ends_at_its_first_end_token() -> None:
    plain = make_engine().answer([SHORT, LONG], quiet)
    stop_at = plain[0].token_ids[2]
    model = make_model()
    model.generation_config = GenerationConfig(eos_token_id=[1, stop_at])
    first, second = make_engine(model).answer([SHORT, LONG], quiet)
    assert first.token_ids == plain[0].token_ids[: plain[0].token_ids.index(stop_at)]
    assert (first.finish, first.failure) == ("stop", None if first.text.strip() else "empty")
    if stop_at not in plain[1].token_ids:
        assert second == plain[1]


def test_c44_end_tokens_are_taken_from_every_place_they_stand_in() -> None:
    model = make_model()
    model.generation_config = GenerationConfig(eos_token_id=[128001, 128008, 128009])
    model.config.eos_token_id = 2
    assert end_token_ids(model, made.make_tokenizer(made.CHATML)) == (128001, 128008, 128009, 2, 1)


def test_c44_no_end_token_before_the_limit_is_finish_length_and_truncated() -> None:
    for generation in make_engine().answer([SHORT, LONG], quiet):
        assert (generation.finish, generation.failure) == ("length", "truncated")


def test_c44_sampling_in_the_models_own_config_is_ignored() -> None:
    sampling = make_model(do_sample=True, temperature=5.0, top_k=0, repetition_penalty=3.0)
    assert make_engine(sampling).answer([SHORT, LONG], quiet) == make_engine().answer([SHORT, LONG], quiet)


def test_a_temperature_draws_by_probability_with_nothing_cut_off() -> None:
    engine = TransformersEngine(make_model(top_k=3, top_p=0.1), made.make_tokenizer(made.CHATML), "cpu", temperature=10)
    torch.manual_seed(0)
    rows = [prompt(str(row), [5, 9, 30], limit=1) for row in range(400)]
    # Nearly uniform over 260 tokens, of which a top_k of 50, which generate() has by default, would leave 50.
    assert len({generation.token_ids for generation in engine.answer(rows, quiet)}) > 150


def test_each_row_stops_at_its_own_limit_and_steps_are_counted() -> None:
    steps: list[int] = []
    few, many = make_engine().answer([prompt("few", [5, 9], 3), prompt("many", [6, 9], 7)], steps.append)
    assert (len(few.token_ids), len(many.token_ids)) == (3, 7)
    assert sum(steps) == 10


def broken(position: int, row_token: int, value: float) -> Any:
    """A model whose logits turn bad at a position for rows that begin with a token."""
    model = make_model()
    head = model.lm_head.forward
    calls = {"n": -1}

    def forward(hidden: torch.Tensor) -> torch.Tensor:
        calls["n"] += 1
        logits: torch.Tensor = head(hidden)
        if calls["n"] == position:
            logits = logits.clone()
            logits[row_token, :, 17] = value
        return logits

    model.lm_head.forward = forward
    return model


@pytest.mark.parametrize(("value", "position"), [(float("nan"), 0), (float("inf"), 4), (float("-inf"), 1)])
def test_logits_that_are_not_finite_end_their_case_with_the_position_and_no_other(value: float, position: int) -> None:
    healthy = make_engine().answer([SHORT, LONG], quiet)
    hurt = make_engine(broken(position, 1, value)).answer([SHORT, LONG], quiet)
    assert hurt[0] == healthy[0]
    assert hurt[1] == Generation(
        status="numeric_error", detail=f"logits of generated token {position} are NaN or infinite"
    )


def test_running_out_of_memory_is_told_for_each_case_of_the_batch() -> None:
    model = make_model()

    def forward(*_: Any, **__: Any) -> None:
        raise RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried to allocate 99 bytes")

    model.forward = forward
    assert [g.status for g in make_engine(model).answer([SHORT, LONG], quiet)] == ["out_of_memory"] * 2


def test_an_unexpected_error_is_not_turned_into_an_answer() -> None:
    model = make_model()

    def forward(*_: Any, **__: Any) -> None:
        raise RuntimeError("size mismatch")

    model.forward = forward
    with pytest.raises(RuntimeError, match="size mismatch"):
        make_engine(model).answer([SHORT], quiet)


def with_stop(one: Prompt, *stops: str) -> Prompt:
    return one._replace(case=one.case.model_copy(update={"stop": stops}))


def test_c24_a_row_stops_behind_the_token_that_completes_a_stop_text_and_its_neighbours_go_on() -> None:
    engine = make_engine()
    first, second = prompt("a", [5, 9, 30], 24), prompt("b", list(range(40, 51)), 24)
    plain = engine.answer([first, second], quiet)
    tokens = plain[0].token_ids
    seen = [made.make_tokenizer(made.CHATML).decode(tokens[:n]) for n in range(len(tokens) + 1)]
    # A stop text of two characters, so that it is completed by a token of its own.
    at = next(n for n in range(4, len(tokens)) if "\ufffd" not in seen[n][-2:] and seen[n][-2:] not in seen[n - 1])
    stopped = engine.answer([with_stop(first, "not there", seen[at][-2:]), second], quiet)
    assert stopped[0].token_ids == tokens[:at]
    assert stopped[0].text == seen[at]
    assert (stopped[0].finish, stopped[0].failure) == ("stop", None)
    assert stopped[1] == plain[1]


def test_c24_a_stop_text_that_never_comes_changes_nothing() -> None:
    engine = make_engine()
    assert engine.answer([with_stop(LONG, "not there"), SHORT], quiet) == engine.answer([LONG, SHORT], quiet)
