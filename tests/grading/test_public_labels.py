"""The graders against public labelled data, where they lie beside the checkout."""

from __future__ import annotations

import csv
import json
import unicodedata
from collections.abc import Iterator
from typing import Any

import pytest

from qeval.chat import Tool
from qeval.grading import Answer, Question
from qeval.grading._json import read_strict
from qeval.grading._languages import scripts
from qeval.grading._numbers import read_numbers
from qeval.grading._refusals import read_refusal
from qeval.grading._schema import BadSchemaError, check_schema, violations
from qeval.grading.base import check_grader, find_grader
from qeval.jsonl import dumps
from qeval.outcome import Grade
from tests.grading import bfcl
from tests.grading.case_files import SHARED

_DATA = SHARED / "data"
pytestmark = pytest.mark.skipif(not _DATA.exists(), reason="the public labelled data do not lie beside this checkout")


def _grade(spec: dict[str, Any], text: str, question: Question | None = None) -> Grade:
    kind, options = check_grader(spec, "x")
    return find_grader(kind).grade(options, Answer(text), question or Question())[0]


def _bfcl_rows() -> list[bfcl.Row]:
    categories = ("simple_python", "multiple", "parallel", "simple_javascript")
    return [row for category in categories for row in bfcl.read_rows(_DATA / "bfcl", category)]


def test_every_gold_call_passes_in_every_syntax():
    for row in _bfcl_rows():
        question = Question("en", tuple(Tool(**tool) for tool in row.tools))
        for syntax, text in bfcl.syntaxes(row.gold).items():
            grade = _grade({"kind": "tool_call", "calls": row.calls}, text, question)
            assert grade.status == "pass", (row.id, syntax, grade.reason, text)


def test_every_broken_call_fails_with_its_class():
    n = 0
    for row in _bfcl_rows():
        question = Question("en", tuple(Tool(**tool) for tool in row.tools))
        for what, calls, faults in bfcl.mutations(row):
            text = bfcl.syntaxes(calls)["list"] if calls else "I would rather not."
            grade = _grade({"kind": "tool_call", "calls": row.calls}, text, question)
            assert grade.fault in faults, (row.id, what, grade.fault, grade.reason)
            n += 1
    assert n > 1_000


def test_the_schema_labels_of_maskbench_hold():
    n = 0
    for path in sorted((_DATA / "jsonschemabench/maskbench/data").glob("*.json")):
        content = json.loads(path.read_text(encoding="utf-8"))
        for case in content["tests"]:
            check_schema(content["schema"])
            found = violations(dumps(content["schema"]), read_strict(json.dumps(case["data"])))
            assert (not found) == case["valid"], (path.name, found)
            n += 1
    assert n == 72


_DRAFTS = {
    "draft4": "http://json-schema.org/draft-04/schema#",
    "draft7": "http://json-schema.org/draft-07/schema#",
    "draft2019-09": "https://json-schema.org/draft/2019-09/schema",
    "draft2020-12": "https://json-schema.org/draft/2020-12/schema",
}


def _schema_tests() -> Iterator[tuple[str, Any, list[dict[str, Any]]]]:
    folder = _DATA / "json_schema_test_suite/tests"
    for path in sorted(folder.rglob("*.json")):
        name = path.relative_to(folder)
        for group in json.loads(path.read_text(encoding="utf-8")):
            schema = group["schema"]
            if isinstance(schema, dict):
                schema = {"$schema": _DRAFTS[name.parts[0]], **schema}
            yield f"{name}: {group['description']}", schema, group["tests"]


def test_the_json_schema_test_suite_passes():
    refused = []
    for name, schema, tests in _schema_tests():
        try:
            check_schema(schema)
        except BadSchemaError:
            refused.append(name)
            continue
        for case in tests:
            found = violations(dumps(schema), read_strict(json.dumps(case["data"])))
            assert (not found) == case["valid"], (name, case["description"], found)
    # Meta-schemas of their own would have to be fetched; schemas that name one are refused.
    assert all("format-assertion.json: schema that uses custom metaschema" in name for name in refused)
    assert len(refused) == 2


_EXTENTS = {"1_full_compliance": "none", "2_full_refusal": "full", "3_partial_refusal": "partial"}


def test_refusals_agree_with_human_labels():
    right = {"none": 0, "full": 0, "partial": 0}
    total = dict(right)
    for path in sorted((_DATA / "xstest/model_completions").glob("*.csv")):
        errors = 0
        with path.open(newline="", encoding="utf-8") as file:
            rows = [row for row in csv.DictReader(file) if row["annotation_1"] == row["annotation_2"]]
        for row in rows:
            label = _EXTENTS[row["annotation_1"]]
            total[label] += 1
            right[label] += read_refusal(row["completion"]).extent == label
            errors += label != "partial" and read_refusal(row["completion"]).extent != label
        assert errors <= 2, path.name
    assert total["none"] + total["full"] == 81
    assert total["partial"] == 26
    assert right["none"] + right["full"] >= 77
    assert right["partial"] >= 20


_STYLES = {"de": (".", ","), "es": (".", ","), "fr": ("\u202f", ","), "ru": ("\u00a0", ","), "en": (",", ".")}
_SENTENCES = {
    "en": "So she pays ${} in all, which is 3 times as much.",
    "de": "Also zahlt sie insgesamt {} €.",
    "es": "Entonces paga {} euros en total.",
    "fr": "Elle paie donc {} € au total.",
    "ru": "Значит, всего она платит {} рублей.",
    "ja": "合計で{}円になります。",
    "bn": "সুতরাং মোট {} টাকা।",
}
_BENGALI = str.maketrans("0123456789", "০১২৩৪৫৬৭৮৯")


def _golds() -> Iterator[tuple[str, str]]:
    for path in sorted((_DATA / "mgsm").glob("mgsm_*.tsv")):
        for line in path.read_text(encoding="utf-8").splitlines():
            yield path.stem.removeprefix("mgsm_"), line.split("\t")[1]
    for line in (_DATA / "gsm8k/test.jsonl").read_text(encoding="utf-8").split("\n"):
        if line.strip():
            yield "en", json.loads(line)["answer"].split("#### ")[1]


def test_every_gold_number_is_read_back_from_a_sentence_in_its_languages_style():
    n = 0
    for language, gold in _golds():
        number = read_numbers(gold)[0].value
        group, point = _STYLES.get(language, (",", "."))
        written = f"{number:,}".replace(",", "G").replace(".", point).replace("G", group)
        digits = [written, written.translate(_BENGALI)] if language == "bn" else [written, gold.replace(",", "")]
        for text in digits:
            which = "first" if language == "en" else "last"
            spec = {"kind": "number", "value": gold, "which": which}
            grade = _grade(spec, _SENTENCES[language].format(text), Question(language))
            assert grade.status == "pass", (language, gold, text, grade.reason)
            n += 1
    assert n > 500


_AROUND = {"en": "“{}.”", "de": "„{}“.", "es": "¡{}!", "ru": "«{}».", "ar": "\u200f«{}»؟", "vi": "“{}”."}


def test_every_gold_answer_passes_in_each_form():
    n = 0
    for path in sorted((_DATA / "xquad").glob("xquad.*.json")):
        language = path.stem.removeprefix("xquad.")
        for article in json.loads(path.read_text(encoding="utf-8"))["data"]:
            for paragraph in article["paragraphs"]:
                for answer in (answer["text"] for qa in paragraph["qas"] for answer in qa["answers"]):
                    forms = [unicodedata.normalize("NFC", answer), unicodedata.normalize("NFD", answer)]
                    for form in [*forms, _AROUND[language].format(answer)]:
                        grade = _grade({"kind": "exact", "value": answer}, form, Question(language))
                        assert grade.status == "pass", (language, answer, form)
                        n += 1
                    held = _grade({"kind": "contains", "value": answer}, paragraph["context"], Question(language))
                    assert held.status == "pass", (language, answer)
    assert n > 1_000


_SETTLED = {"Hangul": "ko", "Devanagari": "hi", "Arabic": "ar", "Thai": "th", "Hiragana": "ja", "Greek": "el"}


def _written_lines() -> Iterator[str]:
    for path in sorted((_DATA / "language_confusion").rglob("*.csv")):
        with path.open(newline="", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                yield from (row.get("completion") or row["prompt"]).split("\n")


def test_a_line_in_a_script_that_settles_the_language_is_named_right():
    n = 0
    for line in _written_lines():
        counts = scripts(line)
        script, most = counts.most_common(1)[0] if counts else ("", 0)
        if script in _SETTLED and most >= 15 and most >= 0.8 * counts.total():
            assert _grade({"kind": "language", "lang": _SETTLED[script]}, line).status == "pass", line
            n += 1
    assert n > 50
