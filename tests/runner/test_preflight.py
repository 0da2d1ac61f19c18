"""What is found before the first variant: cases that cannot be shown, models that cannot read, what is said."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from qeval.errors import UsageError, VariantFailed
from qeval.models.resolved import ResolvedModel
from qeval.rendering.renderer import Rules
from qeval.rendering.thinking import ThinkingRule
from qeval.runner.asking import FILE, ask_models
from qeval.runner.preflight import Preflight, PreflightTask, run_preflight
from qeval.runner.process import Ended
from qeval.suites.case import Case, Suite
from tests.conftest import CHAT_TEMPLATE
from tests.rendering.conversations import DAY

SHOUTS = CHAT_TEMPLATE.replace(
    "{{ message['content'] }}", "{{ message['content'] if 'Oslo' not in message['content'] }}"
)
DATED = "{{ strftime_now('%Y-%m-%d') }}" + CHAT_TEMPLATE
DIVIDES = "{{ 1 / 0 }}" + CHAT_TEMPLATE
ENDLESS = "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}"
OPENS = CHAT_TEMPLATE.replace("[assistant] ", "[assistant] <think>\n")


def model(source: Path, folder: Path, template: str = CHAT_TEMPLATE, **config: Any) -> ResolvedModel:
    """Copy the tiny model with another template, and other values in its config."""
    copy = folder / f"model-{len(list(folder.glob('model-*')))}"
    shutil.copytree(source, copy)
    (copy / "chat_template.jinja").write_text(template, encoding="utf-8")
    path = copy / "config.json"
    path.write_text(json.dumps({**json.loads(path.read_text("utf-8")), **config}), encoding="utf-8")
    return ResolvedModel(copy.name, copy)


def suite(*questions: str, **more: Any) -> Suite:
    grader = {"kind": "contains", "value": "x"}
    cases = [
        Case(id=f"c{n}", messages=({"role": "user", "content": text},), graders=(grader,), **more)
        for n, text in enumerate(questions)
    ]
    return Suite(name="places", version=1, description="Places.", size="smoke", cases=tuple(cases))


def found(folder: Path, models: list[ResolvedModel], asked: Suite, thinking: ThinkingRule | None = None) -> Preflight:
    return run_preflight(PreflightTask(folder, "id", tuple(models), (asked,), Rules(DAY, thinking), 1))


PLACES = suite("Where is Lima?", "Where is Oslo?", "Where is Cairo?")


def test_a_model_that_shows_everything_leaves_nothing_to_say(tiny_model_folder: Path, tmp_path: Path) -> None:
    assert found(tmp_path, [model(tiny_model_folder, tmp_path)], PLACES) == Preflight(
        identity="id", refused={}, notes=()
    )


def test_d07_a_case_that_is_not_shown_whole_is_refused_by_name(tiny_model_folder: Path, tmp_path: Path) -> None:
    result = found(tmp_path, [model(tiny_model_folder, tmp_path, SHOUTS)], PLACES)
    assert result.refused == {"places": {"c1": "not in the prompt: the text of message 1 (user)"}}
    (note,) = result.notes
    assert note.startswith(
        "warning: 1 of 3 cases of places are refused for all variants and stay ungraded; the first is c1"
    )
    assert "most of the suite" not in note


def test_a_suite_of_which_most_is_refused_is_said_loudly(tiny_model_folder: Path, tmp_path: Path) -> None:
    asked = suite("Where is Oslo?", "Oslo?", "Where is Lima?")
    (note,) = found(tmp_path, [model(tiny_model_folder, tmp_path, SHOUTS)], asked).notes
    assert "2 of 3 cases" in note
    assert note.endswith("This is most of the suite: its result says little.")


@pytest.mark.parametrize(
    ("template", "said"),
    [
        (DIVIDES, r"ZeroDivisionError: division by zero"),
        ("{{ nothing.there }}", r"UndefinedError: 'nothing' is undefined"),
        ("[user] ", r"not in the prompt: the text of message 1 \(user\)"),
    ],
)
def test_a_template_that_shows_no_case_is_refused(
    template: str, said: str, tiny_model_folder: Path, tmp_path: Path
) -> None:
    with pytest.raises(
        UsageError, match=rf"model-0: none of 3 cases can be shown to it. The first is places/c0: .*{said}"
    ):
        found(tmp_path, [model(tiny_model_folder, tmp_path, template)], PLACES)


def test_a_template_without_end_is_given_up_after_some_cases(
    tiny_model_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("qeval.rendering.template.LONGEST_S", 0.02)
    often = SHOUTS.replace(
        "{% for message", "{% if 'Oslo' in messages[0]['content'] %}" + ENDLESS + "{% endif %}{% for message"
    )
    asked = model(tiny_model_folder, tmp_path, often)
    assert "did not end within" in found(tmp_path, [asked], PLACES).refused["places"]["c1"]
    with pytest.raises(UsageError, match="does not come to an end on 4 cases"):
        found(tmp_path, [asked], suite(*["Oslo"] * 9, "Lima"))


def test_a_token_without_embedding_refuses_its_case(tiny_model_folder: Path, tmp_path: Path) -> None:
    asked = model(tiny_model_folder, tmp_path)
    path = asked.path / "tokenizer_config.json"
    content = json.loads(path.read_text("utf-8"))
    path.write_text(json.dumps({**content, "extra_special_tokens": ["<|new|>"]}), encoding="utf-8")
    refused = found(tmp_path, [asked], suite("Where?", "What is <|new|>?")).refused["places"]
    assert refused == {"c1": "token 259 ('<|new|>') of its prompt is outside the model's vocabulary of 259"}


def test_another_model_must_read_the_same_tokens(tiny_model_folder: Path, tmp_path: Path) -> None:
    models = [model(tiny_model_folder, tmp_path), model(tiny_model_folder, tmp_path, "#" + CHAT_TEMPLATE)]
    assert found(tmp_path, models, PLACES).notes == (
        "warning: model-1 reads other tokens than model-0 in 3 of 3 cases (the first is places/c0); its variants will "
        "not be comparable",
    )


def test_what_one_model_cannot_be_shown_is_refused_for_all(tiny_model_folder: Path, tmp_path: Path) -> None:
    models = [model(tiny_model_folder, tmp_path), model(tiny_model_folder, tmp_path, SHOUTS)]
    refused = found(tmp_path, models, PLACES).refused
    assert refused == {"places": {"c1": "model-1: not in the prompt: the text of message 1 (user)"}}


def test_what_the_context_cannot_hold_is_counted_thought_included(tiny_model_folder: Path, tmp_path: Path) -> None:
    asked = model(tiny_model_folder, tmp_path, OPENS, max_position_embeddings=300)
    long = suite("Where?", "Where is it? " * 20, max_new_tokens=50)
    notes = found(tmp_path, [asked], long, 150).notes
    assert notes == (
        "model-0: thinking is on: the template opens a thought. A thought may take 150 tokens before the answer's own "
        "limit counts; --thinking sets another limit",
        "warning: model-0: 1 of 2 cases (the first is places/c1) do not fit in a context of 300 tokens and stay "
        "ungraded",
    )
    assert "2 of 2 cases" in found(tmp_path, [asked], long, 250).notes[1]
    (_, cut) = found(tmp_path, [asked], suite("Where is it? " * 20, truncate="middle"), 150).notes
    assert cut == "model-0: 1 of 1 cases (the first is places/c0) too long for a context of 300 tokens are cut"


def test_a_date_in_the_prompts_is_said(tiny_model_folder: Path, tmp_path: Path) -> None:
    (note,) = found(tmp_path, [model(tiny_model_folder, tmp_path, DATED)], PLACES).notes
    assert note == "model-0: its chat template writes the date; it is 2026-01-02 for all variants and resumes"


def test_what_a_template_cannot_do_is_refused_with_the_models_name(tiny_model_folder: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="model-0: thinking off: the model's chat template has no switch"):
        found(tmp_path, [model(tiny_model_folder, tmp_path)], PLACES, "off")


def test_a_tokenizer_that_cannot_be_loaded_is_a_fault_of_the_input(tiny_model_folder: Path, tmp_path: Path) -> None:
    asked = model(tiny_model_folder, tmp_path)
    (asked.path / "tokenizer.json").write_text('{"model": {"type": "nonsense"}}', encoding="utf-8")
    with pytest.raises(UsageError, match="model-0: its tokenizer cannot be loaded"):
        found(tmp_path, [asked], PLACES)


REFUSES = Preflight(identity="id", refused={"s": {"c": "why"}}, notes=("note",))


def ended(*said: object, state: str = "complete", usage: bool = False) -> Callable[..., Ended]:
    def in_process(task: object, hear: Callable[[object], None], *_: object) -> Ended:
        for one in said:
            hear(one)
        return Ended(state, "because", usage)  # type: ignore[arg-type]

    return in_process


def never(*_: object) -> Ended:
    raise AssertionError("it was asked again")


def task(folder: Path, identity: str = "id") -> PreflightTask:
    return PreflightTask(folder, identity, (), (), Rules(DAY), 1)


def test_a_resume_asks_again_only_where_something_changed(tmp_path: Path) -> None:
    assert ask_models(task(tmp_path), ended(REFUSES), float) == REFUSES
    assert ask_models(task(tmp_path), never, float) == REFUSES
    other = Preflight(identity="other", refused={}, notes=())
    # Variants that have answered keep to what they were shown.
    assert ask_models(task(tmp_path, "other"), ended(other), float).refused == REFUSES.refused


def test_a_damaged_file_of_an_earlier_preflight_is_made_again(tmp_path: Path) -> None:
    (tmp_path / FILE).write_text('{"identity": "id"', encoding="utf-8")
    assert ask_models(task(tmp_path), ended(REFUSES), float) == REFUSES


def test_how_the_process_ended_is_told_and_nothing_is_stored(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="because"):
        ask_models(task(tmp_path), ended(state="unsupported", usage=True), float)
    with pytest.raises(VariantFailed, match="pre-flight: crashed: because"):
        ask_models(task(tmp_path), ended(state="crashed"), float)
    assert not (tmp_path / FILE).exists()
