"""In fp32 on every case of the built-in suites: replay is plain decoding, and shared prefixes change nothing."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
import torch

from qeval.engines.base import Answer, Generation, OnRead, Reading
from qeval.engines.transformers import TransformersEngine
from qeval.engines.work import work_on
from qeval.models.locate import resolve
from qeval.runner.batches import Batch, Limits, plan_batches
from qeval.runner.prompts import prompt_of
from qeval.suites.load import load_suites
from qeval.variants.load import load_variant
from qeval.variants.spec import parse_variant

pytestmark = pytest.mark.slow


def answers(engine: TransformersEngine, batch: Batch, on_read: OnRead | None = None) -> list[Generation]:
    return engine.answer(batch.prompts, lambda tokens: None, on_read)


def known(batch: Batch, generations: Sequence[Generation]) -> list[Answer]:
    return [
        Answer(found.token_ids, ended=found.finish == "stop" and not prompt.case.stop)
        for prompt, found in zip(batch.prompts, generations, strict=True)
    ]


def altered(answer: Answer, at: float) -> Answer:
    """Another token at some place, as a variant that differs there would have it."""
    place = int(at * len(answer.tokens))
    return Answer((*answer.tokens[:place], 5, *answer.tokens[place + 1 :]), ended=answer.ended)


def test_replay_and_shared_prefixes_change_no_answer_of_any_suite(model_folder: Path) -> None:
    assert model_folder.is_dir()
    torch.manual_seed(0)
    loaded = load_variant(parse_variant("fp32"), resolve("smollm2-135m"), "cpu")
    shared, apart = (TransformersEngine(loaded.model, loaded.tokenizer, "cpu") for _ in range(2))
    apart.read_apart()
    prompts = [prompt_of(shared, suite.name, case) for suite in load_suites("all", "smoke") for case in suite.cases]
    n_answered = 0
    for number, batch in enumerate(plan_batches(prompts, Limits(64, 16_384, work_on("cpu")))):
        plain = answers(shared, batch)
        # Half of the rows agree to the end; the others leave what they follow at a place of their own.
        followed = [
            altered(answer, row % 7 / 7) if (row + number) % 2 else answer
            for row, answer in enumerate(known(batch, plain))
        ]

        def on_read(reading: Reading, followed: list[Answer] = followed) -> list[Generation]:
            reading.follow(followed)
            return reading.replay(lambda tokens: None)

        # Read without sharing and replayed, beside shared and decoded plainly.
        assert answers(apart, batch, on_read) == plain
        n_answered += sum(one.status == "answered" for one in plain)
    assert n_answered == len(prompts) > 170
