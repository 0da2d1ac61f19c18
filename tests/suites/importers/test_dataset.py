"""Tables through a mapping: columns become cases, and every slip in the mapping is told with what there is."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from qeval.errors import UsageError
from qeval.suites.importers._templates import RowError, fill, fill_value
from tests.suites.importers.helpers import cases, dropped, fault, imported

ROWS: list[dict[str, Any]] = [
    {"q": "Capital of Norway?", "answer": "Oslo", "n": 4, "topic": "geo", "choices": ["Oslo", "Rome"], "doc": "d1"},
    {"q": "Capital of Italy?", "answer": "Rome", "n": 5, "topic": "geo", "choices": ["Oslo", "Rome"], "doc": "d1"},
    {"q": "2+2?", "answer": "4", "n": 4, "topic": "maths", "choices": [], "doc": "d2"},
    {"q": "Nothing?", "answer": None, "n": 1, "topic": "geo", "choices": [], "doc": "d2"},
]
MAPPING = """
prompt: |
  {{ q }}{% for choice in choices %}
  {{ loop.index }}. {{ choice }}{% endfor %}
system: Answer in one word.
grader: {kind: exact, value: "{{ answer }}"}
tags: {topic: "{{ topic }}", lang: en}
cluster: "{{ doc }}"
max_new_tokens: 8
"""


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    return path


def mapping(folder: Path, text: str = MAPPING) -> Path:
    path = folder / "map.yaml"
    path.write_text(text)
    return path


def test_columns_become_prompt_grader_tags_and_cluster(table, tmp_path):
    found = imported("dataset", table, mapping=mapping(tmp_path))
    assert dropped(found) == {"a value that a template needs is null": 1}
    assert found.header.model_dump(include={"name", "max_new_tokens"}) == {"name": "dataset", "max_new_tokens": 8}
    first, *_ = cases(found).values()
    assert [message.content for message in first.messages] == [
        "Answer in one word.",
        "Capital of Norway?\n1. Oslo\n2. Rome\n",
    ]
    assert (first.tags, first.cluster) == ({"topic": "geo", "lang": "en"}, "d1")
    assert (fault(first, "Oslo."), fault(first, "Rome")) == (None, "wrong_value")


def test_ids_come_from_the_mapping_or_from_the_content_and_are_stable(table, tmp_path):
    named = imported("dataset", table, mapping=mapping(tmp_path, MAPPING + 'id: "{{ topic }}-{{ n }}"\n'))
    assert list(cases(named)) == ["geo-4", "geo-5", "maths-4"]
    first = list(cases(imported("dataset", table, mapping=mapping(tmp_path))))
    table.write_text("".join(json.dumps(row) + "\n" for row in reversed(ROWS)))
    assert list(cases(imported("dataset", table, mapping=mapping(tmp_path)))) == first[::-1]


def test_rows_are_filtered_by_columns_and_counted(table, tmp_path):
    text = MAPPING + "where: {topic: [geo], n: 4}\n"
    found = imported("dataset", table, mapping=mapping(tmp_path, text))
    assert len(found.cases) == 1
    assert dropped(found) == {"left out by 'where': n": 2, "left out by 'where': topic": 1}


def test_the_limit_of_the_mapping_holds_unless_another_is_given(table, tmp_path):
    path = mapping(tmp_path, MAPPING + "limit: 1\n")
    assert (len(imported("dataset", table, mapping=path).cases), imported("dataset", table, mapping=path).valid) == (
        1,
        3,
    )
    assert len(imported("dataset", table, limit=2, mapping=path).cases) == 2


@pytest.mark.parametrize("kind", ["csv", "tsv", "json", "parquet", "folder", "saved"])
def test_every_kind_of_table_gives_the_same_cases(table, tmp_path, kind):
    text = 'prompt: "{{ q }}"\ngrader: {kind: contains, value: "{{ topic }}"}\nid: "{{ doc }}-{{ n }}"\n'
    expected = cases(imported("dataset", table, mapping=mapping(tmp_path, text)))
    source = write_table(tmp_path / "other", kind)
    assert cases(imported("dataset", source, mapping=mapping(tmp_path, text))) == expected


def write_table(folder: Path, kind: str) -> Path:
    import pyarrow as arrow
    from pyarrow import parquet

    folder.mkdir()
    table, path = arrow.Table.from_pylist(ROWS), folder / f"test.{kind}"
    if kind == "folder":
        parquet.write_table(table, folder / "train.parquet")
        parquet.write_table(table, folder / "test.parquet")
        return folder
    if kind == "saved":
        import datasets

        datasets.Dataset.from_list(ROWS).save_to_disk(str(folder / "data"))
        return folder / "data"
    if kind == "json":
        path.write_text(json.dumps(ROWS))
    elif kind == "parquet":
        parquet.write_table(table, path)
    else:
        with path.open("w", newline="") as file:
            writer = csv.DictWriter(file, list(ROWS[0]), delimiter="," if kind == "csv" else "\t")
            writer.writeheader()
            writer.writerows(ROWS)
    return path


def test_a_split_that_is_not_there_is_told_with_those_that_are(tmp_path):
    source = write_table(tmp_path / "data", "folder")
    with pytest.raises(UsageError, match=r"no split 'tset'\. Did you mean 'test'\? There is test, train"):
        imported("dataset", source, mapping=mapping(tmp_path, MAPPING + "split: tset\n"))


def test_a_name_that_is_no_dataset_says_what_may_stand_there(tmp_path):
    with pytest.raises(UsageError, match="cannot be loaded as a Hugging Face dataset"):
        imported("dataset", tmp_path / "nowhere", mapping=mapping(tmp_path))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            ("{{ q }}", "{{ question }}"),
            "key 'prompt': no column 'question'. There is answer, choices, doc, n, q, topic",
        ),
        (("{{ topic }}", "{{ topik }}"), "key 'tags.topic': no column 'topik'. Did you mean 'topic'?"),
        (("{{ answer }}", "{{ anser }}"), "graders: no column 'anser'. Did you mean 'answer'?"),
        (('"{{ doc }}"', "doc"), "key 'cluster': 'doc' is the same text for every case, but a column is called so"),
        (("cluster:", "clusters:"), "unknown key 'clusters'. Did you mean 'cluster'?"),
        (("kind: exact", "kind: exakt"), "unknown grader 'exakt'. Did you mean 'exact'?"),
        (("{{ q }}", "{{ q"), "key 'prompt': not a Jinja2 template"),
        (('value: "{{ answer }}"', "valeu: x"), "unknown key 'valeu'. Did you mean 'value'?"),
        (("prompt:", "where: {topik: geo}\nprompt:"), "key 'where': no column 'topik'. Did you mean 'topic'?"),
        (("grader:", "graders: []\ngrader:"), "has both 'grader' and 'graders'"),
    ],
)
def test_a_slip_in_the_mapping_is_told_before_any_row_is_read(table, tmp_path, change, said):
    assert change[0] in MAPPING
    with pytest.raises(UsageError) as caught:
        imported("dataset", table, mapping=mapping(tmp_path, MAPPING.replace(*change)))
    assert said in str(caught.value)
    assert "map.yaml" in str(caught.value)


def test_a_mapping_is_asked_for(table):
    with pytest.raises(UsageError, match="dataset needs --mapping FILE"):
        imported("dataset", table)


def test_damaged_tables_are_refused_or_their_rows_counted(tmp_path):
    text = mapping(tmp_path, 'prompt: "{{ a }}"\ngrader: {kind: exact, value: x}\n')
    table = tmp_path / "t.csv"
    table.write_text("a,b\n1,2\n3\n")
    assert dropped(imported("dataset", table, mapping=text)) == {"another number of cells than columns": 1}
    table.write_text("a,a\n1,2\n")
    with pytest.raises(UsageError, match="must name the columns, each once"):
        imported("dataset", table, mapping=text)
    (tmp_path / "t.parquet").write_text("no")
    with pytest.raises(UsageError, match="not a Parquet file"):
        imported("dataset", tmp_path / "t.parquet", mapping=text)
    (tmp_path / "t.xlsx").write_text("no")
    with pytest.raises(UsageError, match=r"Allowed: \.jsonl, \.json, \.csv, \.tsv, \.parquet"):
        imported("dataset", tmp_path / "t.xlsx", mapping=text)


def test_an_expression_alone_keeps_its_type_and_mixed_text_does_not():
    row = {"n": 4, "x": 2.5, "items": ["a"], "code": "007", "gold": "2,125"}
    spec = {"value": "{{ n + 1 }}", "all": ["{{ items }}", "{{ code }}", "{{gold}}"], "text": "{{ n }}/{{ x }}", "k": 3}
    assert fill_value(spec, row) == {"value": 5, "all": [["a"], "007", "2,125"], "text": "4/2.5", "k": 3}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{{ a.b.c }}", "fails"),
        ("{{ null }} x", "null"),
        ("{{ null }}", "null"),
        ("{{ 1 / zero }}", "fails"),
        ("{{ text.__class__.__mro__ }}", "fails"),
        ("x {{ text.__class__ }}", "fails"),
    ],
)
def test_what_a_template_cannot_do_is_a_reason_and_no_crash(text, said):
    row: dict[str, Any] = {"a": {}, "null": None, "zero": 0, "text": "t"}
    for run in (fill, fill_value):
        with pytest.raises(RowError, match=said):
            run(text, row)


def test_a_value_that_is_no_json_is_a_reason():
    with pytest.raises(RowError, match="is no JSON"):
        fill_value("{{ blob }}", {"blob": {1, 2}})


SIMPLE = 'prompt: "{{ q }}"\ngrader: {kind: exact, value: "{{ a }}"}\n'


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("t.csv", b'\xef\xbb\xbfq;a\r\n"one; ""two""\r\nthree";1\r\n'),
        ("t.csv", b'q,a\n"one; ""two""\r\nthree",1'),
        ("t.TSV", b'q\ta\n"one; ""two""\r\nthree"\t1\n'),
    ],
)
def test_a_spreadsheets_export_is_read_to_the_byte(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    found = imported("dataset", tmp_path / name, mapping=mapping(tmp_path, SIMPLE))
    assert found.cases[0]["prompt"] == 'one; "two"\r\nthree'


def test_a_cell_may_hold_a_document(tmp_path):
    (tmp_path / "t.csv").write_text(f"q,a\n{'x' * 200_000},1\n")
    found = imported("dataset", tmp_path / "t.csv", mapping=mapping(tmp_path, SIMPLE))
    assert len(found.cases[0]["prompt"]) == 200_000


@pytest.mark.parametrize("rows", ['x,"1\ny,2\nz,3\n', '"x" y,1\n'])
def test_quotes_that_do_not_match_are_told_before_they_swallow_rows(tmp_path, rows):
    (tmp_path / "t.csv").write_text(f"q,a\n{rows}")
    with pytest.raises(UsageError, match=r"t\.csv, line [24]: not a table"):
        imported("dataset", tmp_path / "t.csv", mapping=mapping(tmp_path, SIMPLE))


def test_a_file_that_is_not_there_is_not_looked_for_on_the_hub(tmp_path):
    with pytest.raises(UsageError, match=r"nope\.csv: no such file\. Give a \.jsonl"):
        imported("dataset", tmp_path / "nope.csv", mapping=mapping(tmp_path, SIMPLE))


def test_faulty_parquet_files_are_told(tmp_path):
    import pyarrow as pa
    from pyarrow import parquet

    arrays = [pa.array(["x"]), pa.array(["1"]), pa.array(["2"])]
    parquet.write_table(pa.Table.from_arrays(arrays, names=["q", "a", "a"]), tmp_path / "twice.parquet")
    with pytest.raises(UsageError, match="two columns have one name"):
        imported("dataset", tmp_path / "twice.parquet", mapping=mapping(tmp_path, SIMPLE))
    table = pa.table({"q": [f"q{n}" for n in range(500)], "a": ["1"] * 500})
    parquet.write_table(table, tmp_path / "t.parquet", compression="zstd")
    raw = bytearray((tmp_path / "t.parquet").read_bytes())
    raw[20:200] = bytes(180)
    (tmp_path / "t.parquet").write_bytes(raw)
    with pytest.raises(UsageError, match="cannot be read after row 0"):
        imported("dataset", tmp_path / "t.parquet", mapping=mapping(tmp_path, SIMPLE))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{{ text|dictsort }}", "fails"),
        ("{% include text %}", "fails"),
        ("{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}", "fails"),
        ("{{ nan }}", "null"),
        ("{{ blob }}", "bytes"),
    ],
)
def test_no_template_ends_the_import_or_puts_other_than_text_into_a_prompt(text, said):
    with pytest.raises(RowError, match=said):
        fill(text, {"text": "t", "nan": float("nan"), "blob": b"\x89PNG"})


def test_rows_on_which_a_template_fails_are_counted_by_one_reason(tmp_path):
    (tmp_path / "t.csv").write_text("q,a\nx,1\ny,z\nv,w\n")
    text = mapping(tmp_path, 'prompt: "{{ q }}"\ngrader: {kind: number, value: "{{ 1 / (a|int) }}"}\n')
    assert dropped(imported("dataset", tmp_path / "t.csv", mapping=text)) == {"a template fails": 2}


@pytest.mark.parametrize(
    ("text", "said"), [("{{ lipsum() }}", "no column 'lipsum'"), ("{{ q|random }}", "No filter named 'random'")]
)
def test_what_differs_from_import_to_import_is_refused(tmp_path, text, said):
    (tmp_path / "t.csv").write_text("q,a\nx,1\n")
    with pytest.raises(UsageError, match=said):
        imported("dataset", tmp_path / "t.csv", mapping=mapping(tmp_path, SIMPLE.replace("{{ q }}", text)))
