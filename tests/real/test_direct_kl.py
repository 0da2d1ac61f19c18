"""The mean KL that a run finds is that of two whole models computed side by side, and the store is as small as said."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from qeval.engines.transformers import TransformersEngine
from qeval.fidelity.states import HEAD_FILE, StateStore
from qeval.models.locate import resolve
from qeval.record import Record, load_record
from qeval.runner.prompts import prompt_of
from qeval.suites.load import load_suites
from qeval.variants.load import load_variant
from qeval.variants.spec import parse_variant
from tests.real.conftest import run_plan_file, write_plan
from tests.real.short_suite import write_short_suite

pytestmark = pytest.mark.slow


def loaded(name: str) -> Any:
    return load_variant(parse_variant(name), resolve("smollm2-135m"), "cpu")


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory, model_folder: Path) -> tuple[Path, Record, Record]:
    assert model_folder.is_dir()
    folder = tmp_path_factory.mktemp("direct")
    plan = write_plan(
        folder, variants=["fp32", "nf4"], suites=[str(write_short_suite(folder, 24))], self_check=0, batch_size=24
    )
    run = run_plan_file(plan, folder / "out", "--no-track")
    assert run.code in {1, 3}, run.stdout + run.stderr
    fp32, nf4 = (load_record(folder / "out/records" / name) for name in ("fp32", "nf4"))
    return folder, fp32, nf4


def test_nf4s_mean_kl_is_that_of_two_models(records: tuple[Path, Record, Record]) -> None:
    folder, fp32, nf4 = records
    ours, theirs = loaded("nf4"), loaded("fp32")
    (suite,) = load_suites((str(folder / "capitals"),), "smoke")
    engine = TransformersEngine(ours.model, ours.tokenizer, "cpu")
    (end,) = engine._decoder.end_ids
    answers = fp32.by_case()
    found: list[float] = []
    direct: list[float] = []
    for scored in nf4.scored:
        case = next(case for case in suite.cases if case.id == scored.case)
        answer = answers[scored.suite, scored.case]
        targets = [*answer.token_ids, *([end] if answer.finish == "stop" else [])]
        ids = torch.tensor([[*prompt_of(engine, suite.name, case).token_ids, *targets[:-1]]])
        with torch.no_grad():
            p, q = (one.model(input_ids=ids).logits[0, -len(targets) :].log_softmax(-1) for one in (theirs, ours))
        direct += (p.exp() * (p - q)).sum(-1).tolist()
        found += scored.kl
    assert len(found) == len(direct) > 150
    assert sum(found) == pytest.approx(sum(direct), rel=1e-3)
    assert sum(found) / len(found) > 0.01


def test_the_store_is_hidden_over_vocabulary_of_the_logits_it_stands_for(records: tuple[Path, Record, Record]) -> None:
    folder, fp32, _ = records
    positions = sum(len(one.token_ids) + (one.finish == "stop") for one in fp32.by_case().values())
    hidden, vocabulary = 576, 49_152
    info = fp32.header.fidelity
    assert info is not None
    assert positions * hidden * 2 <= info.state_bytes <= 1.05 * positions * hidden * 2
    assert info.state_bytes / (positions * vocabulary * 2) < 0.0124
    assert info.reconstruction_kl is not None
    assert info.reconstruction_kl < 1e-4
    store = StateStore(folder / "out/records/fp32")
    assert store.head == store.folder / HEAD_FILE
    # Once a model, not a token; in fp32, since 16 bits would lose something of this model's head.
    assert store.head.stat().st_size == pytest.approx(hidden * vocabulary * 4, rel=0.001)
