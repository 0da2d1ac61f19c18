"""`qeval suites show`: a suite's cases, and one case as messages or as a model reads it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.job_files import qeval_entry

CASE = {
    "id": "a/b",
    "messages": [
        {"role": "system", "content": "Be short."},
        {"role": "user", "content": "Where \u202eis my order?"},
        {"role": "assistant", "tool_calls": [{"name": "find", "arguments": {"n": 7}}]},
        {"role": "tool", "name": "find", "content": "in Lima"},
    ],
    "tools": [{"name": "find", "description": "Finds orders"}],
    "graders": [{"kind": "contains", "value": "Lima"}, {"kind": "language", "lang": "en"}],
    "tags": {"kind": "order", "lang": "en"},
    "cluster": "orders",
    "tenant": "shop-7",
    "max_new_tokens": 33,
}


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    path = tmp_path / "orders.jsonl"
    second = {"id": "c", "prompt": "Hello?", "graders": [{"kind": "refusal", "expect": "comply"}]}
    path.write_text(f"{json.dumps(CASE)}\n{json.dumps(second)}\n", encoding="utf-8")
    return path


def show(*arguments: object) -> tuple[str, Any]:
    done = qeval_entry("suites", "show", *arguments, "--json")
    assert done.returncode == 0, done.stderr
    return done.stderr, json.loads(done.stdout.splitlines()[-1])


def test_a_suite_is_listed_with_kind_graders_and_cluster(suite: Path) -> None:
    printed, told = show(suite)
    rows = [line.split() for line in printed.splitlines()]
    assert ["a/b", "order", "contains,", "language", "orders"] in rows
    assert ["c", "refusal", "(its", "own)"] in rows
    assert [case["id"] for case in told["cases"]] == ["a/b", "c"]


def test_the_size_counts() -> None:
    assert len(show("schema", "--size", "standard")[1]["cases"]) == 320


def test_a_case_is_shown_with_all_that_the_model_sees_and_all_that_is_expected(suite: Path) -> None:
    printed, told = show(f"{suite}/a/b")
    parts = ["orders/a/b", "── system\nBe short.", "── user\nWhere ⟨U+202E⟩is my order?", '"find"}', "in Lima"]
    parts += ["── tool find\n", "Finds orders", '── expected, contains\n{"value": "Lima"}', '{"lang": "en"}']
    parts += ["kind=order, lang=en", "── cluster\norders", "── tenant\nshop-7", "33 tokens"]
    assert [part for part in parts if part not in printed] == []
    assert told["case"]["messages"][1]["content"] == "Where \u202eis my order?"
    assert (told["rendered"], told["prompt_tokens"]) == (None, None)


def test_a_model_shows_the_text_of_its_template_and_counts_its_tokens(suite: Path, tiny_model_folder: Path) -> None:
    printed, told = show(f"{suite}/c", "--model", tiny_model_folder)
    assert told["rendered"] == "<s>[user] Hello?\n[assistant] "
    # Its tokens are bytes, and <s> is one.
    assert told["prompt_tokens"] == len("[user] Hello?\n[assistant] ") + 1
    assert "── prompt\n<s>[user] Hello?" in printed
    assert f"{told['prompt_tokens']} prompt tokens" in printed


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["schma"], "Did you mean 'schema'?"),
        (["schema", "--model", "smollm2-135m"], "--model shows one case"),
        (["schema/nothing"], "has no case 'nothing'"),
        (["./nothing/x"], "no such suite folder or file"),
        (["schema/schema-0000", "--model", "no-such"], "unknown model"),
        (["gone.json"], "gone.json: not a case"),
    ],
)
def test_what_is_not_there_is_named(arguments: list[str], words: str) -> None:
    done = qeval_entry("suites", "show", *arguments)
    assert done.returncode == 2
    assert words in done.stderr
