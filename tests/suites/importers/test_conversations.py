"""A column of conversations: chat-completions and ShareGPT, from JSONL, Parquet and saved datasets."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from qeval.errors import UsageError
from tests.suites.importers.helpers import cases, dropped, imported

ROWS = [json.loads(line) for line in Path(__file__).with_name("conversations.jsonl").read_text("utf-8").splitlines()]
MAPPING = 'grader: {kind: exact, value: "{{ answer }}"}\n'
TURNS = [
    {"role": "user", "content": "Hi"},
    {"role": "assistant", "content": "Hello."},
    {"role": "user", "content": "Oslo?"},
    {"role": "assistant", "content": "Norway"},
]


def mapping(folder: Path, text: str = MAPPING) -> Path:
    path = folder / "map.yaml"
    path.write_text(text)
    return path


def table(folder: Path, *rows: dict[str, Any]) -> Path:
    path = folder / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.mark.parametrize("row", [row for row in ROWS if "roles" in row], ids=lambda row: row["name"])
def test_a_conversation_is_a_case_up_to_its_last_answer(row: dict[str, Any], tmp_path: Path) -> None:
    (case,) = cases(imported("dataset", table(tmp_path, row["row"]), mapping=mapping(tmp_path))).values()
    assert [message.role for message in case.messages] == row["roles"]
    assert case.messages[0].content in {"Be brief.", "Oslo?"}
    assert case.graders[0]["value"] == row["answer"]
    if "tool" in row["roles"]:
        assert case.messages[1].tool_calls[0].arguments == {"q": "Oslo"}


@pytest.mark.parametrize("row", [row for row in ROWS if "dropped" in row], ids=lambda row: row["name"])
def test_what_is_no_conversation_is_dropped_with_its_reason(row: dict[str, Any], tmp_path: Path) -> None:
    (column,) = row["row"]
    source = table(tmp_path, {column: TURNS}, row["row"])
    found = imported("dataset", source, mapping=mapping(tmp_path))
    assert dropped(found) == {row["dropped"]: 1}


@pytest.mark.parametrize("kind", ["parquet", "dataset"])
def test_turns_come_from_parquet_and_saved_datasets(kind: str, tmp_path: Path) -> None:
    rows = [{"messages": TURNS, "topic": "geo"}, {"messages": TURNS[2:], "topic": "geo"}]
    if kind == "parquet":
        import pyarrow as arrow
        from pyarrow import parquet

        source = tmp_path / "rows.parquet"
        parquet.write_table(arrow.Table.from_pylist(rows), source)
    else:
        import datasets

        source = tmp_path / "saved"
        datasets.Dataset.from_list(rows).save_to_disk(str(source))
    told = mapping(tmp_path, f'{MAPPING}tags: {{topic: "{{{{ topic }}}}"}}\n')
    found = cases(imported("dataset", source, mapping=told)).values()
    assert [len(case.messages) for case in found] == [3, 1]
    assert {case.tags["topic"] for case in found} == {"geo"}


def test_a_mapping_names_the_column_and_may_add_a_system_text(tmp_path: Path) -> None:
    source = table(tmp_path, {"chat": TURNS}, {"chat": [{"role": "system", "content": "x"}, *TURNS]})
    told = mapping(tmp_path, f'messages: "{{{{ chat }}}}"\nsystem: Be brief.\n{MAPPING}')
    found = imported("dataset", source, mapping=told)
    (case,) = cases(found).values()
    assert [message.content for message in case.messages] == ["Be brief.", "Hi", "Hello.", "Oslo?"]
    assert dropped(found) == {"a system text in the conversation and another in the mapping": 1}


def test_a_column_called_answer_comes_before_that_of_the_conversation(tmp_path: Path) -> None:
    (case,) = cases(
        imported("dataset", table(tmp_path, {"messages": TURNS, "answer": "mine"}), mapping=mapping(tmp_path))
    ).values()
    assert case.graders[0]["value"] == "mine"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (f'prompt: "{{{{ q }}}}"\nmessages: "{{{{ q }}}}"\n{MAPPING}', "has both 'prompt' and 'messages'"),
        (MAPPING, "key 'prompt' is missing (or 'messages', for a column of conversations)"),
        (f"messages: q\n{MAPPING}", "'q' is the same text for every case, but a column is called so"),
        (f'prompt: "{{{{ q }}}}"\n{MAPPING}', "no column 'answer'"),
    ],
)
def test_a_mapping_that_does_not_say_what_to_ask_is_refused(text: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError) as error:
        imported("dataset", table(tmp_path, {"q": "a"}), mapping=mapping(tmp_path, text))
    assert said in str(error.value)


def test_turns_given_as_a_prompt_are_dropped_with_what_to_write(tmp_path: Path) -> None:
    told = mapping(tmp_path, 'prompt: "{{ messages }}"\ngrader: {kind: contains, value: x}\n')
    with pytest.raises(UsageError, match="the prompt is a list and no text"):
        imported("dataset", table(tmp_path, {"messages": TURNS}), mapping=told)
