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
from qeval.record import Record, load_record
from qeval.reporting.terminal import print_report
from qeval.runner.answer import run_task
from qeval.runner.plan import PlanFile, resolve_plan
from qeval.runner.task import Task
from qeval.variants.spec import parse_variant
from tests.runner.test_answer import make_task


def tiny_task(folder: Path, model: Path, name: str = "fp32", **changes: Any) -> Task:
    """A task of twelve short cases on a tiny model, whose record goes into a folder."""
    folder.mkdir()
    task = make_task(folder, self_check=0.0, **changes)
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
    run_task(task, lambda said: None, lambda: 0.0)
    return load_record(task.folder)


@pytest.mark.parametrize(("asked", "said"), [({"head": "fp32"}, "the scripted engine has no output head")])
def test_the_scripted_engine_has_no_logits_to_decode_otherwise(asked: dict[str, Any], said: str) -> None:
    file = PlanFile(model="scripted", variants=("fp32",), engine="scripted", script="script.yaml", **asked)
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
