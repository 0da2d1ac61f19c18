"""A baseline and candidates on a tiny model, measured as a run measures them."""

from __future__ import annotations

import json
import shutil
import weakref
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import AutoModelForCausalLM

from qeval.engines.base import Reading
from qeval.fidelity import measure
from qeval.fidelity.measure import Measure, Run
from qeval.fidelity.output_head import OutputHead, load_head
from qeval.fidelity.states import StateStore
from qeval.record import OUTCOMES_FILE, RECORD_FILE, SCORED_FILE, Record, load_header, load_record, save_header, seal
from qeval.runner import answer, apart
from qeval.runner.scoring import BatchScoring
from qeval.runner.task import Task
from qeval.scored import ScoredAnswer
from tests.runner.test_decoding import run, tiny_task


def task(folder: Path, model: Path, name: str, baseline: Path | None = None, **changes: Any) -> Task:
    again = {"capitals": 4}
    return tiny_task(
        folder, model, name, **{"again": again, "fidelity": True, "baseline": baseline, "decode": "plain", **changes}
    )


@pytest.fixture(scope="module")
def baseline(tmp_path_factory: pytest.TempPathFactory, tiny_model_folder: Path) -> tuple[Path, Record]:
    made = task(tmp_path_factory.mktemp("runs") / "fp32", tiny_model_folder, "fp32")
    return made.folder, run(made)


@pytest.fixture(scope="module")
def candidate(
    baseline: tuple[Path, Record], tmp_path_factory: pytest.TempPathFactory, tiny_model_folder: Path
) -> tuple[Task, Record]:
    made = task(tmp_path_factory.mktemp("runs") / "nf4", tiny_model_folder, "nf4", baseline[0], reverse_kl=True)
    return made, run(made)


def direct_kl(theirs: Any, ours: Any, ids: list[int], n: int) -> torch.Tensor:
    """Return KL and reverse KL at the last n positions of a sequence read in one pass by two whole models: (n, 2)."""
    with torch.no_grad():
        p, q = (model(input_ids=torch.tensor([ids])).logits[0, -n:].log_softmax(-1) for model in (theirs, ours))
    return torch.stack([(p.exp() * (p - q)).sum(-1), (q.exp() * (q - p)).sum(-1)], dim=-1)


def test_kl_is_that_of_two_whole_models(
    baseline: tuple[Path, Record], candidate: tuple[Task, Record], tiny_model_folder: Path
) -> None:
    from qeval.engines.transformers import TransformersEngine
    from qeval.variants.load import load_variant

    made, record = candidate
    assert made.model is not None
    loaded = load_variant(made.spec, made.model, "cpu")
    ours = loaded.model
    theirs = AutoModelForCausalLM.from_pretrained(tiny_model_folder)
    engine = TransformersEngine(ours, loaded.tokenizer, "cpu")
    cases = {case.id: case for case in made.suites[0].cases}
    answers = baseline[1].by_case()
    first = [scored for scored in record.scored if scored.repeat == 0]
    assert len(first) == 12
    found: list[tuple[float, float]] = []
    direct: list[list[float]] = []
    for scored in first:
        prompt = engine.render("capitals", cases[scored.case])
        answer = answers[scored.suite, scored.case]
        targets = [*answer.token_ids, *([1] if answer.finish == "stop" else [])]
        assert len(scored.kl) == len(targets)
        direct += direct_kl(theirs, ours, [*prompt.token_ids, *targets[:-1]], len(targets)).tolist()
        assert scored.reverse_kl is not None
        found += zip(scored.kl, scored.reverse_kl, strict=True)
    for ours_summed, direct_values in zip(map(sum, zip(*found, strict=True)), zip(*direct, strict=True), strict=True):
        assert ours_summed == pytest.approx(sum(direct_values), rel=1e-3)
    assert max(kl for kl, _ in found) > 1e-3


def test_the_baseline_keeps_states_as_small_as_promised_and_scores_itself_where_it_ran_again(
    baseline: tuple[Path, Record],
) -> None:
    folder, record = baseline
    positions = sum(len(o.token_ids) + (o.finish == "stop") for o in record.by_case().values())
    assert record.header.fidelity is not None
    hidden_bytes = 64 * 2
    assert positions * hidden_bytes <= record.header.fidelity.state_bytes
    assert record.header.fidelity.reconstruction_kl is not None
    assert record.header.fidelity.reconstruction_kl < 1e-4
    assert {scored.repeat for scored in record.scored} == {1}
    assert len(record.scored) == 4
    assert max(value for scored in record.scored for value in scored.kl) < 1e-5
    assert StateStore(folder).head.exists()


def test_a_candidate_that_is_the_baseline_lies_at_no_distance(
    baseline: tuple[Path, Record], tmp_path: Path, tiny_model_folder: Path
) -> None:
    same = run(task(tmp_path / "same", tiny_model_folder, "fp32", baseline[0]))
    assert same.header.fidelity is not None
    assert baseline[1].header.fidelity is not None
    assert same.header.fidelity.reference == baseline[1].header.fidelity.reference
    assert max(value for scored in same.scored for value in scored.kl) < 1e-4
    assert {scored.reverse_kl for scored in same.scored} == {None}
    assert all(scored.top == scored.reference_top for scored in same.scored)
    assert [o.token_ids for o in same.outcomes] == [o.token_ids for o in baseline[1].outcomes]


def test_scoring_changes_no_answer(candidate: tuple[Task, Record], tmp_path: Path, tiny_model_folder: Path) -> None:
    plain = run(tiny_task(tmp_path / "plain", tiny_model_folder, "nf4", again={"capitals": 4}))
    assert [o.token_ids for o in plain.outcomes] == [o.token_ids for o in candidate[1].outcomes]
    assert plain.header.fidelity is None
    assert plain.scored == ()


def test_a_resumed_run_scores_what_an_undisturbed_one_does(
    baseline: tuple[Path, Record], tmp_path: Path, tiny_model_folder: Path
) -> None:
    made = task(tmp_path / "run", tiny_model_folder, "bf16", baseline[0])
    whole = run(made)
    outcomes, scored = made.folder / OUTCOMES_FILE, (made.folder / SCORED_FILE).read_bytes()
    written = outcomes.read_bytes()
    outcomes.write_bytes(written[: int(0.4 * len(written))])
    (made.folder / SCORED_FILE).write_bytes(scored[: int(0.6 * len(scored))])
    resumed = run(made._replace(resume=True))
    assert outcomes.read_bytes() == written
    assert (made.folder / SCORED_FILE).read_bytes() == scored
    assert resumed.scored == whole.scored


def test_a_resumed_baseline_knows_what_storing_changed_before(tmp_path: Path, tiny_model_folder: Path) -> None:
    made = task(tmp_path / "fp32", tiny_model_folder, "fp32")
    whole = run(made)
    outcomes = made.folder / OUTCOMES_FILE
    written = outcomes.read_bytes()
    outcomes.write_bytes(written[: int(0.9 * len(written))])
    resumed = run(made._replace(resume=True))
    assert resumed.header.fidelity == whole.header.fidelity
    assert resumed.scored == whole.scored


def test_a_fresh_start_leaves_nothing_of_an_older_record(tmp_path: Path, tiny_model_folder: Path) -> None:
    made = task(tmp_path / "fp32", tiny_model_folder, "fp32")
    whole = run(made)
    kept = next(StateStore(made.folder).folder.glob("*.states"))
    # As of a batch that the older record had and this one has not.
    shutil.copy(kept, kept.with_name("99.states"))
    (made.folder / RECORD_FILE).unlink()
    again = run(made)
    assert again.header.fidelity == whole.header.fidelity
    assert again.scored == whole.scored


def test_a_baseline_without_states_gives_no_fidelity_and_the_record_says_why(
    tmp_path: Path, tiny_model_folder: Path
) -> None:
    plain = tiny_task(tmp_path / "plain", tiny_model_folder, "fp32")
    run(plain)
    record = run(task(tmp_path / "bf16", tiny_model_folder, "bf16", plain.folder))
    assert record.header.fidelity is None
    assert "fidelity is not measured: the baseline kept no hidden states" in record.header.notes


def test_the_end_of_an_answer_is_a_position_too(
    baseline: tuple[Path, Record], tmp_path: Path, tiny_model_folder: Path
) -> None:
    third = baseline[1].outcomes[0].token_ids[2]
    model = tmp_path / "model"
    shutil.copytree(tiny_model_folder, model)
    config = json.loads((model / "generation_config.json").read_text())
    (model / "generation_config.json").write_text(json.dumps({**config, "eos_token_id": [1, third]}))
    made = task(tmp_path / "fp32", model, "fp32")
    ending = run(made)
    ended = [key for key, outcome in ending.by_case().items() if outcome.finish == "stop"]
    assert ended
    other = run(task(tmp_path / "bf16", model, "bf16", made.folder))
    for scored in other.scored:
        answer = ending.by_case()[scored.suite, scored.case]
        assert len(scored.kl) == len(answer.token_ids) + (answer.finish == "stop")
        if answer.finish == "stop":
            assert scored.reference_top[-1] == third


def test_time_and_memory_of_scoring_are_not_those_of_answering(
    baseline: tuple[Path, Record], tmp_path: Path, tiny_model_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now, peak = [0.0], [500]

    def slow(self: Measure, run: Run, reading: Reading) -> list[ScoredAnswer]:
        now[0] += 100
        peak[0] = 900
        return []

    def forget() -> None:
        peak[0] = 300

    monkeypatch.setattr(Measure, "on_read", slow)
    monkeypatch.setattr(apart, "forget_peak_memory", forget)
    for module in (apart, answer):
        monkeypatch.setattr(module, "peak_memory_bytes", lambda: peak[0])
    made = task(tmp_path / "bf16", tiny_model_folder, "bf16", baseline[0])
    answer.run_task(made, lambda said: None, lambda: None, lambda: now[0])
    measured = load_record(made.folder).header.measurements
    assert measured.run_s == 0
    assert measured.score_s is not None
    assert measured.score_s >= 100
    assert measured.peak_memory_bytes == 500


def test_the_baselines_head_is_in_memory_only_while_a_batch_is_scored(
    baseline: tuple[Path, Record], tmp_path: Path, tiny_model_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held: list[weakref.ref[Any]] = []

    def watched(path: Path, device: str) -> OutputHead:
        head = load_head(path, device)
        held.append(weakref.ref(head.multiply))
        return head

    on_step: list[bool] = []
    monkeypatch.setattr(measure, "load_head", watched)
    monkeypatch.setattr(
        BatchScoring, "on_answered", lambda *_: on_step.append(any(head() is not None for head in held))
    )
    run(task(tmp_path / "bf16", tiny_model_folder, "bf16", baseline[0]))
    assert len(held) >= 2
    assert on_step
    assert not any(on_step)


def test_another_tokenizer_gives_no_fidelity_and_the_record_says_why(
    baseline: tuple[Path, Record], tmp_path: Path, tiny_model_folder: Path
) -> None:
    header = baseline[1].header
    other = header.model_copy(update={"model": header.model.model_copy(update={"tokenizer_hash": "another"})})
    shutil.copytree(baseline[0], tmp_path / "base")
    save_header(tmp_path / "base", other)
    record = run(task(tmp_path / "bf16", tiny_model_folder, "bf16", tmp_path / "base"))
    assert record.header.fidelity is None
    assert any("its tokenizer is not the baseline's" in note for note in record.header.notes)


def test_another_number_of_logits_gives_no_fidelity_and_the_record_says_why(
    baseline: tuple[Path, Record], tmp_path: Path, tiny_model_folder: Path
) -> None:
    shutil.copytree(baseline[0], tmp_path / "base")
    path = StateStore(tmp_path / "base").head
    parts = load_file(path)
    save_file({**parts, "weight": parts["weight"][:-3].clone()}, path)
    seal(tmp_path / "base", load_header(tmp_path / "base"))
    record = run(task(tmp_path / "bf16", tiny_model_folder, "bf16", tmp_path / "base"))
    assert record.header.fidelity is None
    assert any("logits and the baseline" in note for note in record.header.notes)
