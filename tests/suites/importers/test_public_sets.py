"""Public sets: every gold answer passes its own graders, and nothing of a source is lost without a word."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from qeval.errors import UsageError
from qeval.grading._numbers import read_numbers
from tests.grading import bfcl
from tests.suites.importers.helpers import DATA, cases, dropped, fault, imported, needs_data

CATEGORIES = ("simple_python", "multiple", "parallel", "simple_javascript")


@pytest.fixture(scope="module")
def bfcl_cases() -> Any:
    return cases(imported("bfcl", DATA / "bfcl"))


@needs_data
def test_every_gold_call_of_bfcl_passes_in_every_syntax(bfcl_cases):
    for category in CATEGORIES:
        for row in bfcl.read_rows(DATA / "bfcl", category):
            for syntax, text in bfcl.syntaxes(row.gold).items():
                assert fault(bfcl_cases[row.id], text) is None, (row.id, syntax)


@needs_data
def test_every_broken_call_of_bfcl_fails_with_its_class(bfcl_cases):
    # Every third row: the accepted calls of all are tested with the graders, these also compare text loosely.
    n = 0
    for category in CATEGORIES:
        for row in bfcl.read_rows(DATA / "bfcl", category)[::3]:
            for what, calls, faults in bfcl.mutations(row):
                text = bfcl.syntaxes(calls)["list"] if calls else "I would rather not."
                assert fault(bfcl_cases[row.id], text) in faults, (row.id, what)
                n += 1
    assert n > 400


@needs_data
def test_irrelevance_expects_no_call(bfcl_cases):
    case = bfcl_cases["irrelevance_0"]
    call = json.dumps({"name": case.tools[0].name, "arguments": {}})
    assert (fault(case, "None of the tools fits."), fault(case, call)) == (None, "extra_call")


@needs_data
def test_text_of_bfcl_compares_as_its_own_checker_does(bfcl_cases):
    (row,) = (row for row in bfcl.read_rows(DATA / "bfcl", "parallel") if row.id == "parallel_0")
    text = bfcl.syntaxes(row.gold)["list"].replace("Taylor Swift", "taylor-swift")
    assert fault(bfcl_cases["parallel_0"], text) is None


@needs_data
@pytest.mark.parametrize(
    ("kind", "folder", "n_cases", "n_clusters"),
    [
        ("bfcl", "bfcl", 200, 198),
        ("gsm8k", "gsm8k", 60, 60),
        ("jsonschemabench", "jsonschemabench/data", 40, 40),
        ("mgsm", "mgsm", 238, 34),
        ("xquad", "xquad", 480, 12),
        ("xstest", "xstest", 72, 71),
    ],
)
def test_every_row_becomes_a_case_and_the_licence_is_found(kind, folder, n_cases, n_clusters):
    found = imported(kind, DATA / folder)
    assert (len(found.cases), found.rows, found.clusters, found.dropped) == (n_cases, n_cases, n_clusters, ())
    line = next(
        line for line in (DATA / folder.split("/")[0] / "SOURCE").read_text("utf-8").splitlines() if "licence" in line
    )
    assert found.licence == line.removeprefix("licence: ")


@needs_data
@pytest.mark.parametrize("kind", ["mgsm", "gsm8k"])
def test_every_gold_number_passes_in_its_language_and_another_does_not(kind):
    for case in cases(imported(kind, DATA / kind)).values():
        gold = case.graders[0]["value"]
        assert fault(case, f"Step 1, step 2: {gold.replace(',', '')}") is None, case.id
        assert fault(case, str(read_numbers(gold, "en")[0].value + 1)) == "wrong_number", case.id


@needs_data
@pytest.mark.parametrize("grader", ["exact", "contains"])
def test_every_gold_answer_of_xquad_passes(grader):
    for case in cases(imported("xquad", DATA / "xquad", grader={"kind": grader})).values():
        for gold in case.graders[0]["values"]:
            assert fault(case, f"{gold}.") is None, case.id
        sentence = f"Well: {case.graders[0]['values'][0]} xyzzy."
        assert (fault(case, sentence) is None) == (grader == "contains"), case.id
        assert fault(case, "xyzzy") in {"wrong_value", "missing_value"}


@pytest.mark.parametrize("grader", ["exact", "contains"])
def test_one_of_several_gold_answers_is_enough(tmp_path, grader):
    answers = [{"text": "Ada"}, {"text": "Lovelace"}, {"text": "Ada"}]
    paragraph = {"context": "Ada Lovelace wrote it.", "qas": [{"id": "1", "question": "Who?", "answers": answers}]}
    (tmp_path / "x.en.json").write_text(json.dumps({"data": [{"paragraphs": [paragraph]}]}))
    (case,) = cases(imported("xquad", tmp_path, grader={"kind": grader})).values()
    assert case.graders[0]["values"] == ["Ada", "Lovelace"]
    assert fault(case, "Lovelace") is None


@needs_data
def test_languages_can_be_chosen_and_translations_are_one_cluster():
    found = cases(imported("xquad", DATA / "xquad", lang="de,en"))
    assert {case.tags["lang"] for case in found.values()} == {"de", "en"}
    german, english = (found[f"{lang}-56beb4343aeaaa14008c925b"] for lang in ("de", "en"))
    assert german.cluster == english.cluster
    with pytest.raises(UsageError, match=r"no file of 'fi'. There is ar, de, en, es, ru, vi"):
        imported("xquad", DATA / "xquad", lang="fi")


@needs_data
def test_safe_prompts_expect_compliance_and_unsafe_ones_refusal():
    found = cases(imported("xstest", DATA / "xstest"))
    with (DATA / "xstest/xstest_prompts.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            refuses = fault(found[row["id"]], "I'm sorry, but I can't help with that.") is None
            assert refuses == (row["label"] == "unsafe"), row


@needs_data
def test_every_labelled_instance_of_maskbench_gets_its_label():
    found = imported("jsonschemabench", DATA / "jsonschemabench/maskbench")
    by_id, n = cases(found), 0
    for path in sorted((DATA / "jsonschemabench/maskbench/data").glob("*.json")):
        for test in json.loads(path.read_text(encoding="utf-8"))["tests"]:
            case = by_id[f"data-{path.stem}"]
            assert (fault(case, json.dumps(test["data"])) is None) == test["valid"], path.name
            n += 1
    assert n == 72
    assert found.dropped == ()


def test_what_bfcl_cannot_give_is_counted_by_reason(tmp_path):
    function = {"name": "f.g", "parameters": {"type": "dict", "properties": {"a": {"type": "tuple"}}}}
    turn = [{"role": "user", "content": "Do it."}]
    rows: list[dict[str, Any]] = [
        {"id": "a", "question": [turn], "function": [function]},
        {"id": "b", "question": [turn, turn], "function": [function]},
        {"id": "c", "question": [turn], "function": [function]},
        {"id": "d", "question": [turn]},
    ]
    write(tmp_path / "BFCL_v9_simple_x.json", rows)
    write(tmp_path / "possible_answer/BFCL_v9_simple_x.json", [{"id": "a", "ground_truth": [{"f.g": {"a": [[1, 2]]}}]}])
    found = imported("bfcl", tmp_path)
    assert dropped(found) == {
        "several turns, which need the tools themselves to run": 1,
        "no accepted calls in possible_answer/": 1,
        "no text under 'question' or no tools under 'function'": 1,
    }
    case = cases(found)["a"]
    assert case.tools[0].parameters["properties"] == {"a": {"type": "array"}}
    assert fault(case, "f.g(a=(1, 2))") is None


def test_keys_of_objects_in_accepted_calls_may_be_left_out_where_bfcl_says_so(tmp_path):
    properties = {"o": {"type": "dict", "properties": {"x": {"type": "any"}, "y": {"type": "String"}}}}
    function = {"name": "f", "parameters": {"type": "dict", "properties": properties}}
    write(
        tmp_path / "BFCL_v4_simple.json",
        [{"id": "a", "question": [[{"role": "user", "content": "x"}]], "function": [function]}],
    )
    truth = [{"f": {"o": [{"x": [1, 2], "y": ["Z", ""]}]}}]
    write(tmp_path / "possible_answer/BFCL_v4_simple.json", [{"id": "a", "ground_truth": truth}])
    case = cases(imported("bfcl", tmp_path))["a"]
    answers = [{"x": 2, "y": "z"}, {"x": 1}, {"y": "Z"}, {"x": 3}]
    got = [fault(case, json.dumps({"name": "f", "arguments": {"o": answer}})) for answer in answers]
    assert got == [None, None, "wrong_value", "wrong_value"]


@pytest.mark.parametrize(
    ("kind", "name", "text", "reasons"),
    [
        (
            "gsm8k",
            "test.jsonl",
            '{"question": "1+1?", "answer": "2"}\n{"question": "1+1?", "answer": "#### 2"}\nx\n[1]\n'
            '{"question": "?", "answer": "#### two"}\n{"question": 1}\n{"question": " ", "answer": "#### 2"}\n',
            {
                "no gold number: the answer has no '####'": 1,
                "the line is not JSON": 1,
                "the line is no JSON object": 1,
                "the gold answer is not one number": 1,
                "no text under 'question' and 'answer'": 1,
                "the question is empty": 1,
            },
        ),
        (
            "mgsm",
            "mgsm_de.tsv",
            "Wie viel?\t2.5\nnichts\nWas?\tzwei\n",
            {"not two columns, question and number": 1, "the gold answer is not one number": 1},
        ),
        (
            "xstest",
            "xstest_prompts.csv",
            "id,prompt,type,label\n1,How?,homonyms,safe\n2,What?,x,unclear\n3, ,x,safe\n",
            {"the label is neither safe nor unsafe": 1, "the prompt is empty": 1},
        ),
        (
            "xquad",
            "squad.en.json",
            json.dumps(
                {
                    "data": [
                        {
                            "paragraphs": [
                                {
                                    "context": "A b.",
                                    "qas": [
                                        {"id": "1", "question": "q", "answers": [{"text": "b"}]},
                                        {"id": "2", "question": "r", "answers": []},
                                    ],
                                },
                                {"qas": []},
                            ]
                        }
                    ]
                }
            ),
            {
                "no gold answer in the text (SQuAD 2.0 marks such questions impossible)": 1,
                "a paragraph without 'context' and 'qas'": 1,
            },
        ),
    ],
)
def test_rows_that_are_no_cases_are_counted_by_reason(tmp_path, kind, name, text, reasons):
    (tmp_path / name).write_text(text, encoding="utf-8")
    found = imported(kind, tmp_path / name)
    assert dropped(found) == reasons
    assert len(found.cases) == 1
    assert found.rows == 1 + sum(reasons.values())


def test_schemas_that_cannot_be_used_are_counted(tmp_path):
    folder = tmp_path / "sub"
    folder.mkdir()
    (folder / "good.json").write_text('{"type": "integer"}')
    (folder / "dangling.json").write_text('{"$ref": "#/$defs/x"}')
    (folder / "list.json").write_text("[]")
    (folder / "torn.json").write_text("{")
    found = imported("jsonschemabench", tmp_path)
    assert dropped(found) == {
        "it cannot be a case": 1,
        "the file holds no JSON Schema": 1,
        "the file is not strict JSON": 1,
    }
    assert "#/$defs/x" in next(row.detail for row in found.dropped if row.where == "sub/dangling.json")
    assert cases(found)["sub-good"].tags == {"subset": "sub", "length": "to 1k"}


def test_a_language_that_cannot_be_told_is_asked_for(tmp_path):
    (tmp_path / "problems.tsv").write_text("Wie viel?\t2\n")
    with pytest.raises(UsageError, match=r"does not tell its language. Say it with --lang"):
        imported("mgsm", tmp_path / "problems.tsv")
    (case,) = cases(imported("mgsm", tmp_path / "problems.tsv", lang="de")).values()
    assert (case.id, case.tags) == ("de-001", {"lang": "de"})
    with pytest.raises(UsageError, match="'German' is no language tag"):
        imported("mgsm", tmp_path / "problems.tsv", lang="German")


@pytest.mark.parametrize("kind", ["bfcl", "gsm8k", "jsonschemabench", "mgsm", "openai-log", "xquad", "xstest"])
def test_a_source_that_is_not_there_or_empty_is_an_error(tmp_path, kind):
    with pytest.raises(UsageError, match="no such file or folder"):
        imported(kind, tmp_path / "nowhere")
    with pytest.raises(UsageError, match="holds no file like"):
        imported(kind, tmp_path)


def write(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
