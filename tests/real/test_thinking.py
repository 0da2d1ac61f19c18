"""Whole runs on a made model that thinks: the switch, the thought's limit, and templates that fail."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from qeval.record import Record, load_record
from tests.engines.chained_model import chained_model
from tests.engines.tokenizers_made_here import CHATML, make_tokenizer
from tests.real.conftest import Run, run_plan_file, write_plan

pytestmark = pytest.mark.slow

SWITCH = CHATML.replace(
    "assistant\n",
    "assistant\n{% if enable_thinking %}{{ '<think>\n' }}{% else %}{{ '<think>\n\n</think>\n' }}{% endif %}",
)
SAYS = "\nabcdefg</think>Osl!"


@pytest.fixture(scope="module")
def thinker(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that thinks `abcdefg`, closes the thought and says `Osl!`, whatever it is asked."""
    folder = tmp_path_factory.mktemp("thinker")
    chained_model(SAYS).save_pretrained(folder)
    make_tokenizer(SWITCH).save_pretrained(folder)
    return folder


def run(model: Path, folder: Path, **plan: Any) -> Run:
    cases = [
        {
            "id": f"c{n}",
            "prompt": f"Question {n}?",
            "max_new_tokens": 6,
            "graders": [{"kind": "exact", "value": "Osl!"}],
        }
        for n in range(9)
    ]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "mine.jsonl").write_text("".join(json.dumps(case) + "\n" for case in cases), encoding="utf-8")
    suites = [str(folder / "mine.jsonl")]
    path = write_plan(folder, **{"model": str(model), "variants": ["fp32", "bf16"], "suites": suites, **plan})
    return run_plan_file(path, folder / "out", "--no-track", "--report-only")


def records(done: Run) -> list[Record]:
    assert done.code == 0, done.stderr
    return [load_record(done.out / "records" / name) for name in ("fp32", "bf16")]


def test_d04_a_thought_has_its_own_limit_and_the_answer_is_judged(thinker: Path, tmp_path: Path) -> None:
    done = run(thinker, tmp_path, thinking=40)
    assert "thinking is on (enable_thinking=True). A thought may take 40 tokens" in done.stderr
    for record in records(done):
        assert record.header.decoding["thought_tokens"] == 40
        assert record.header.rendering is not None
        assert record.header.rendering.thinking == "on (enable_thinking=True)"
        assert {outcome.thought for outcome in record.outcomes} == {"abcdefg"}
        assert all(outcome.passed() for outcome in record.outcomes)


def test_a_thought_past_its_limit_is_truncated_in_reasoning(thinker: Path, tmp_path: Path) -> None:
    for record in records(run(thinker, tmp_path, thinking=4)):
        assert {(len(o.token_ids), o.failure, o.passed()) for o in record.outcomes} == {
            (4, "truncated_in_reasoning", False)
        }


def test_thinking_off_is_said_and_gives_the_answer_alone_its_limit(thinker: Path, tmp_path: Path) -> None:
    done = run(thinker, tmp_path, thinking="off")
    assert "thinking is off (enable_thinking=False)" in done.stderr
    for record in records(done):
        assert "thought_tokens" not in record.header.decoding
        assert {len(outcome.token_ids) for outcome in record.outcomes} == {6}


def test_a_template_that_cannot_be_switched_is_exit_2_and_leaves_no_run(thinker: Path, tmp_path: Path) -> None:
    make_tokenizer(CHATML).save_pretrained(_copy(thinker, tmp_path / "plain"))
    done = run(tmp_path / "plain", tmp_path, thinking="on")
    assert (done.code, "has no switch for it" in done.stderr) == (2, True)
    assert not (done.out / "plan.json").exists()


def test_d39_a_template_that_divides_by_zero_is_exit_2_with_the_case(thinker: Path, tmp_path: Path) -> None:
    make_tokenizer("{{ 1 / 0 }}" + CHATML).save_pretrained(_copy(thinker, tmp_path / "broken"))
    done = run(tmp_path / "broken", tmp_path)
    assert done.code == 2
    assert "mine/c0: the chat template refuses it: ZeroDivisionError: division by zero" in done.stderr


def test_d11_one_case_that_the_template_refuses_costs_itself_alone(thinker: Path, tmp_path: Path) -> None:
    picky = "{% if '3' in messages[0]['content'] %}{{ 1 / 0 }}{% endif %}" + CHATML
    make_tokenizer(picky).save_pretrained(_copy(thinker, tmp_path / "picky"))
    done = run(tmp_path / "picky", tmp_path)
    assert "warning: 1 of 9 cases of mine are refused for all variants" in done.stderr
    for record in records(done):
        by_case = record.by_case()
        assert by_case["mine", "c3"].status == "unsupported"
        assert sum(outcome.answered for outcome in by_case.values()) == 8


def _copy(source: Path, target: Path) -> Path:
    return Path(shutil.copytree(source, target))
