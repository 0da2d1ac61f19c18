"""How a plan's variants decode: refused where it cannot be, in force on a tiny model, and in the record."""

from __future__ import annotations

from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from qeval.compare.build import build_report
from qeval.compare.policy import Policy
from qeval.errors import UsageError
from qeval.models.locate import resolve
from qeval.record import OUTCOMES_FILE, Record, load_record
from qeval.reporting.terminal import print_report
from qeval.runner.answer import run_task
from qeval.runner.plan import PlanFile, resolve_plan
from qeval.runner.task import Task
from qeval.variants.spec import parse_variant
from tests.runner.test_answer import make_task


def tiny_task(folder: Path, model: Path, name: str = "fp32", **changes: Any) -> Task:
    """A task of twelve short cases on a tiny model, whose record goes into a folder."""
    folder.mkdir()
    task = make_task(folder, **{"again": {}, **changes})
    (suite,) = task.suites
    cases = tuple(case.model_copy(update={"max_new_tokens": 12}) for case in suite.cases[:12])
    return task._replace(
        name=name,
        spec=parse_variant(name),
        model=resolve(str(model)),
        suites=(suite.model_copy(update={"cases": cases}),),
        script=None,
    )


def run(task: Task) -> Record:
    run_task(task, lambda said: None, lambda: None, lambda: 0.0)
    return load_record(task.folder)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"engine": "scripted", "head": "fp32"}, "the scripted engine has no output head"),
        ({"engine": "scripted", "temperature": 0.7}, "the scripted engine reads its answers"),
        ({"engine": "scripted", "decode": "replay"}, "only a model's greedy answers can be replayed"),
        ({"temperature": 0.7, "decode": "replay"}, "only a model's greedy answers can be replayed"),
        ({"samples": 2}, "greedy answers are all alike. Set a temperature above 0"),
        ({"temperature": 0.7, "repeats": 2}, "samples are their repeats"),
        ({"reverse_kl": True, "fidelity": False}, "reverse_kl is a part of fidelity, which is off"),
        ({"reverse_kl": True, "engine": "scripted"}, "the scripted engine has no distributions. Leave reverse_kl out"),
        ({"reverse_kl": True, "temperature": 0.7}, "with greedy decoding only, and the temperature is 0.7"),
        ({"temperature": 1e-9}, "temperature 1e-09: it must be 0, which is greedy, or at least 0.01"),
    ],
)
def test_decoding_that_cannot_be_is_refused_before_anything_loads(asked: dict[str, Any], said: str) -> None:
    file = PlanFile(model="any", variants=("fp32",), **asked)
    with pytest.raises(UsageError, match=said):
        resolve_plan(file)


def test_the_head_rule_is_in_force_and_in_the_record_and_the_proof_does_not_count_it(
    tmp_path: Path, tiny_model_folder: Path
) -> None:
    plain = run(tiny_task(tmp_path / "plain", tiny_model_folder, "bf16"))
    in_fp32 = run(tiny_task(tmp_path / "fp32", tiny_model_folder, "bf16", head="fp32"))
    assert (plain.header.decoding["head"], in_fp32.header.decoding["head"]) == ("model", "fp32")
    assert plain.header.proof == in_fp32.header.proof
    assert set(in_fp32.header.notes) - set(plain.header.notes) == {
        "the output head is computed in fp32; its copy takes 66.3 kB, not counted as storage"
    }
    answers = [[outcome.token_ids for outcome in record.outcomes] for record in (plain, in_fp32)]
    assert answers[0] != answers[1]


def test_the_batch_mate_test_is_in_the_record_and_what_it_finds_is_a_warning_on_the_terminal(
    tmp_path: Path, tiny_model_folder: Path
) -> None:
    plain, int8 = (run(tiny_task(tmp_path / name, tiny_model_folder, name)) for name in ("fp32", "int8"))
    assert plain.header.batch_mates == 0
    assert int8.header.batch_mates is not None
    assert int8.header.batch_mates > 0
    assert plain.header.notes == ()
    (note,) = int8.header.notes
    assert f"by up to {int8.header.batch_mates:.2g}, " in note
    shown = StringIO()
    print_report(build_report(plain, [int8], Policy(), created_at="t"), Console(file=shown, width=400))
    assert f"int8: {note}" in shown.getvalue()


def sampled(folder: Path, model: Path, **changes: Any) -> Task:
    """A task whose two batches of six cases are answered three times; a self check is asked for and left out."""
    return tiny_task(folder, model, temperature=1.0, samples=3)._replace(again={"capitals": 6}, **changes)


def drawn(record: Record, sample: int) -> list[tuple[int, ...]]:
    return [outcome.token_ids for outcome in record.by_case(sample).values()]


def test_every_sample_answers_the_same_batches_with_draws_of_its_own_that_the_seed_gives_again(
    tmp_path: Path, tiny_model_folder: Path
) -> None:
    first, again, other = (
        run(sampled(tmp_path / name, tiny_model_folder, seed=seed)) for name, seed in (("a", 5), ("b", 5), ("c", 6))
    )
    assert first.outcomes == again.outcomes
    assert [drawn(first, 0) != drawn(other, 0), drawn(first, 0) != drawn(first, 1)] == [True, True]
    assert drawn(first, 1) != drawn(first, 2)
    assert sorted({outcome.repeat for outcome in first.outcomes}) == [0, 1, 2]
    for sample in (1, 2):
        assert {key: outcome.batch for key, outcome in first.by_case(sample).items()} == {
            key: outcome.batch for key, outcome in first.by_case().items()
        }
    sampling = {"do_sample": True, "temperature": 1.0, "samples": 3, "top_p": 1.0, "top_k": 0}
    assert first.header.decoding.items() >= sampling.items()


def test_a_resumed_run_draws_what_an_undisturbed_one_does(tmp_path: Path, tiny_model_folder: Path) -> None:
    task = sampled(tmp_path / "run", tiny_model_folder)
    whole = run(task)
    path = task.folder / OUTCOMES_FILE
    written = path.read_bytes()
    path.write_bytes(written[: int(0.4 * len(written))])
    resumed = run(task._replace(resume=True))
    assert path.read_bytes() == written
    assert resumed.header.model_copy(update={"measurements": whole.header.measurements}) == whole.header


def test_a_case_too_long_for_the_context_is_written_down_for_every_sample(
    tmp_path: Path, tiny_model_folder: Path
) -> None:
    task = sampled(tmp_path / "run", tiny_model_folder)
    (suite,) = task.suites
    long = suite.cases[0].model_copy(update={"max_new_tokens": 510})
    record = run(task._replace(suites=(suite.model_copy(update={"cases": (long, *suite.cases[1:])}),)))
    refused = [outcome.repeat for outcome in record.outcomes if outcome.status == "over_context"]
    assert refused == [0, 1, 2]
