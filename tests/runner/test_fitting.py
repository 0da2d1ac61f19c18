"""A batch that does not fit in memory is answered in parts, each case once."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from qeval.engines.base import Generation, OnStep, Prompt
from qeval.engines.transformers import TransformersEngine
from qeval.record import load_record
from qeval.runner import fitting
from qeval.runner.environment import _group_available, available_memory_bytes
from qeval.runner.fitting import answer_fitting
from tests.engines.test_transformers import make_engine, prompt, quiet
from tests.fidelity.test_run import task
from tests.runner.test_decoding import run

PROMPTS = [prompt(f"p{n}", [5, 9, n + 2]) for n in range(7)]


class SmallEngine:
    """Runs out of memory beyond so many rows, before or after the prompts were read."""

    def __init__(self, rows: int) -> None:
        self.rows, self.sizes = rows, list[int]()

    def cache_bytes(self, prompts: Sequence[Prompt]) -> None:
        return None

    def answer(self, prompts: Sequence[Prompt], on_step: OnStep, on_read: Any = None) -> list[Generation]:
        self.sizes.append(len(prompts))
        if len(prompts) > self.rows:
            return [Generation(status="out_of_memory")] * len(prompts)
        return [Generation(text=one.case.id) for one in prompts]


def test_halves_are_answered_until_they_fit_and_in_order() -> None:
    engine = SmallEngine(2)
    found = answer_fitting(engine, PROMPTS, quiet)  # type: ignore[arg-type]
    assert [one.text for one in found] == [one.case.id for one in PROMPTS]
    assert engine.sizes == [7, 3, 1, 2, 4, 2, 2]


def test_a_case_that_does_not_fit_alone_has_its_class() -> None:
    found = answer_fitting(SmallEngine(0), PROMPTS[:2], quiet)  # type: ignore[arg-type]
    assert [one.status for one in found] == ["out_of_memory"] * 2


@pytest.mark.parametrize("whole_machine", [True, False])
def test_what_would_not_fit_is_cut_before_anything_is_read(
    monkeypatch: pytest.MonkeyPatch, whole_machine: bool
) -> None:
    engine = make_engine()
    one = engine.cache_bytes(PROMPTS[:1])
    # Two layers, keys and values, two heads of width 16, fp32; three tokens read and eight to come; held twice.
    assert one == 2 * 2 * 2 * 2 * 16 * 4 * 11
    if whole_machine:
        monkeypatch.setattr(fitting, "total_memory_bytes", lambda: 3 * one / 0.8)
    else:
        monkeypatch.setattr(fitting, "available_memory_bytes", lambda: 3 * one)
    sizes: list[int] = []
    answer = TransformersEngine.answer

    def watched(self: TransformersEngine, prompts: Sequence[Prompt], *rest: Any) -> list[Generation]:
        sizes.append(len(prompts))
        return answer(self, prompts, *rest)

    whole = engine.answer(PROMPTS, quiet)
    monkeypatch.setattr(TransformersEngine, "answer", watched)
    assert answer_fitting(engine, PROMPTS, quiet) == whole
    assert sizes == [3, 2, 2]


def test_a_run_scores_each_case_once_and_says_how_many_batches_were_cut(
    tmp_path: Path, tiny_model_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = task(tmp_path / "fp32", tiny_model_folder, "fp32")
    run(base)
    plain = task(tmp_path / "plain", tiny_model_folder, "nf4", base.folder)
    run(plain)
    monkeypatch.setattr(fitting, "available_memory_bytes", lambda: 1)
    cut = task(tmp_path / "cut", tiny_model_folder, "nf4", base.folder)
    run(cut)
    one, other = load_record(plain.folder), load_record(cut.folder)
    assert [outcome.token_ids for outcome in one.outcomes] == [outcome.token_ids for outcome in other.outcomes]
    assert [(a.case, a.repeat, a.top) for a in one.scored] == [(a.case, a.repeat, a.top) for a in other.scored]
    assert one.header.measurements.split_batches == 0
    assert other.header.measurements.split_batches == len({(a.repeat, a.batch) for a in one.outcomes})


def test_scoring_is_not_done_twice_where_memory_runs_out_after_it(
    tmp_path: Path, tiny_model_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = task(tmp_path / "fp32", tiny_model_folder, "fp32")
    run(base)
    answer = TransformersEngine.answer

    def runs_out(self: TransformersEngine, prompts: Sequence[Prompt], *rest: Any) -> list[Generation]:
        found = answer(self, prompts, *rest)
        return found if len(prompts) < 3 else [Generation(status="out_of_memory")] * len(prompts)

    monkeypatch.setattr(TransformersEngine, "answer", runs_out)
    cut = task(tmp_path / "cut", tiny_model_folder, "nf4", base.folder)
    run(cut)
    record = load_record(cut.folder)
    assert all(outcome.answered for outcome in record.outcomes)
    keys = [(one.case, one.repeat) for one in record.scored]
    assert len(keys) == len(set(keys)) == 16


def test_memory_that_a_control_group_has_left_counts_pages_it_can_drop(tmp_path: Path) -> None:
    (tmp_path / "memory.max").write_text("1000\n")
    (tmp_path / "memory.current").write_text("700\n")
    (tmp_path / "memory.stat").write_text("anon 500\ninactive_file 150\n")
    assert _group_available(tmp_path) == 450
    (tmp_path / "memory.max").write_text("max\n")
    assert _group_available(tmp_path) is None
    assert _group_available(tmp_path / "none") is None
    assert (available_memory_bytes() or 1) > 0
