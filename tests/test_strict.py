"""Errors in files that people write: key, place, what is allowed, and the nearest allowed name."""

from pathlib import Path

import pytest

from qeval.errors import UsageError
from qeval.runner.plan import PlanFile, load_plan
from qeval.strict import load_yaml, validate
from qeval.suites.case import Case


def plan_error(tmp_path: Path, text: str) -> str:
    path = tmp_path / "plan.yaml"
    path.write_text(text)
    with pytest.raises(UsageError) as caught:
        load_plan(path)
    return str(caught.value)


GOOD = "model: m\nvariants: [fp32]\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (GOOD + "baselin: fp32\n", "unknown key 'baselin'. Did you mean 'baseline'? Allowed: "),
        (GOOD + "batch_size: .nan\n", "key 'batch_size'"),
        (GOOD + "time_limit_s: -1\n", "key 'time_limit_s': Input should be greater than 0, not -1"),
        (GOOD + "time_limit_s: .inf\n", "key 'time_limit_s'"),
        (GOOD + "size: huge\n", "'smoke', 'standard' or 'full', not 'huge'"),
        ("variants: [fp32]\n", "key 'model' is missing"),
        (GOOD + "seed: 1\nseed: 2\n", "line 4, column 1: not YAML (the key 'seed' is given twice)"),
        ("model: [\n", "not YAML"),
        ("- a\n- b\n", "plan.yaml"),
        ("", "key 'model' is missing; key 'variants' is missing"),
        (GOOD + "variants:\n  - {name: a, format: nf4, modl: x}\n", "given twice"),
        ("model: m\nvariants:\n  - {name: a, format: nf4, modl: x}\n", "Did you mean 'model'?"),
    ],
)
def test_a_fault_in_a_plan_names_key_and_what_is_allowed(tmp_path: Path, text: str, said: str) -> None:
    error = plan_error(tmp_path, text)
    assert said in error
    assert "plan.yaml" in error


def test_yaml_evaluates_nothing(tmp_path: Path) -> None:
    path = tmp_path / "plan.yaml"
    path.write_text("model: !!python/object/apply:os.system ['true']\nvariants: [fp32]\n")
    with pytest.raises(UsageError, match="not YAML"):
        load_yaml(PlanFile, path)


def test_every_fault_of_a_value_is_told_at_once() -> None:
    with pytest.raises(UsageError) as caught:
        validate(Case, {"id": "", "messages": [], "grader": []}, "cases.jsonl, line 3")
    for said in ("cases.jsonl, line 3", "'id'", "'messages'", "'graders' is missing", "Did you mean 'graders'?"):
        assert said in str(caught.value)


@pytest.mark.parametrize(
    ("messages", "said"),
    [
        ([{"role": "assistant", "content": "x"}], "the last message is of the assistant"),
        ([{"role": "user", "content": "a"}, {"role": "user", "content": "b"}], "two user messages in a row"),
        (
            [{"role": "user", "content": "a"}, {"role": "system", "content": "b"}, {"role": "user", "content": "b"}],
            "a system message may only come first",
        ),
        ([{"role": "usr", "content": "a"}], "'system', 'user', 'assistant' or 'tool'"),
    ],
)
def test_turns_that_templates_would_refuse_in_mid_run_are_refused_at_load(messages: list[object], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        validate(Case, {"id": "1", "messages": messages, "graders": [{"kind": "x"}]}, "case 1")


def test_c60_a_number_and_a_text_are_one_id() -> None:
    body = {"messages": [{"role": "user", "content": "a"}], "graders": [{"kind": "x"}]}
    assert validate(Case, {"id": 1, **body}, "x").id == validate(Case, {"id": "1", **body}, "x").id


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ({"stop": "x"}, "key 'stop': it must be a list, not 'x'"),
        ({"graders": ["x"]}, r"key 'graders.0': it must be an object \(keys with values\), not 'x'"),
    ],
)
def test_types_are_told_in_the_words_of_files(value: dict[str, object], said: str) -> None:
    body = {"id": "1", "messages": [{"role": "user", "content": "a"}], "graders": [{"kind": "x"}]}
    with pytest.raises(UsageError, match=said):
        validate(Case, {**body, **value}, "case 1")
