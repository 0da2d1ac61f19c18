"""The graders on public labelled data: one check an item, for tests and for the table in docs/graders.md."""

from __future__ import annotations

import csv
import json
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from qeval.chat import Tool
from qeval.grading import Answer, Question, grade_outcome
from qeval.grading._json import read_strict
from qeval.grading._numbers import read_numbers
from qeval.grading._scripts import count_letters
from qeval.grading.base import check_grader, find_grader
from qeval.grading.schemas import BadSchemaError, check_schema, violations
from qeval.jsonl import dumps
from qeval.outcome import Grade, Outcome
from tests.grading import bfcl

T = TypeVar("T")


class Check(NamedTuple):
    """One item of a public set and whether qeval says of it what the set says."""

    group: str
    """What is counted together."""
    right: bool
    told: object
    """The item and what came out, for who must mend it."""


def _kept(checks: Callable[[Path], Iterator[T]]) -> Callable[[Path], tuple[T, ...]]:
    """Let the tests and the table share one reading of a set in a process."""
    return cache(lambda data: tuple(checks(data)))


def _grade(spec: dict[str, Any], text: str, question: Question | None = None) -> Grade:
    kind, options = check_grader(spec, "x")
    return find_grader(kind).grade(options, Answer(text), question or Question())[0]


def _bfcl_rows(data: Path) -> Iterator[tuple[bfcl.Row, Question]]:
    for category in ("simple_python", "multiple", "parallel", "simple_javascript"):
        for row in bfcl.read_rows(data / "bfcl", category):
            yield row, Question("en", tuple(Tool(**tool) for tool in row.tools))


@_kept
def bfcl_golds(data: Path) -> Iterator[Check]:
    """Every gold call passes in every syntax; the group is the syntax."""
    for row, question in _bfcl_rows(data):
        for syntax, text in bfcl.syntaxes(row.gold).items():
            grade = _grade({"kind": "tool_call", "calls": row.calls}, text, question)
            yield Check(syntax, grade.status == "pass", (row.id, grade.reason, text))


@_kept
def bfcl_mutations(data: Path) -> Iterator[Check]:
    """Every broken call fails with its class; the group is that class."""
    for row, question in _bfcl_rows(data):
        for what, calls, faults in bfcl.mutations(row):
            text = bfcl.syntaxes(calls)["list"] if calls else "I would rather not."
            grade = _grade({"kind": "tool_call", "calls": row.calls}, text, question)
            yield Check(min(faults), grade.fault in faults, (row.id, what, grade.fault, grade.reason))


_TOOLS = tuple(
    Tool(name=name, parameters={"type": "object", "properties": {key: {"type": "string"} for key in keys}})
    for name, keys in (("weather", ["city"]), ("search", ["query"]), ("send_email", ["to", "body"]), ("f", ["x"]))
)


@_kept
def texts_without_calls(data: Path) -> Iterator[Check]:
    """Every text that people or models wrote where no tools were offered is no call; the group is the source."""
    for source, text in _texts(data):
        outcome = Outcome(suite="s", case="c", batch=0, status="answered", text=text, finish="stop")
        graded = grade_outcome(outcome, [{"kind": "tool_call", "calls": []}], Question(None, _TOOLS))
        (grade,) = graded.grades
        yield Check(source, grade.status == "pass", (grade.fault, grade.reason, text))


def _texts(data: Path) -> Iterator[tuple[str, str]]:
    """Yield each different question, paragraph and answer in words, with its source."""
    tables = {"Language confusion": "language_confusion", "XSTest": "xstest_full"}
    for source, folder in tables.items():
        for path in sorted((data / folder).rglob("*.csv")):
            with path.open(newline="", encoding="utf-8") as file:
                rows = list(csv.DictReader(file))
            yield from _each(source, (row.get(key) or "" for row in rows for key in ("prompt", "completion")))
    problems = [json.loads(line) for line in (data / "gsm8k/test.jsonl").read_text("utf-8").split("\n") if line.strip()]
    yield from _each("GSM8K", (row[key] for row in problems for key in ("question", "answer")))
    for path in sorted((data / "mgsm").glob("mgsm_*.tsv")):
        yield from _each("MGSM", (line.split("\t")[0] for line in path.read_text("utf-8").splitlines()))
    for path in sorted((data / "xquad").glob("xquad.*.json")):
        articles = json.loads(path.read_text("utf-8"))["data"]
        paragraphs = [paragraph for article in articles for paragraph in article["paragraphs"]]
        questions = [qa for paragraph in paragraphs for qa in paragraph["qas"]]
        yield from _each("XQuAD", (paragraph["context"] for paragraph in paragraphs))
        yield from _each("XQuAD", (qa["question"] for qa in questions))
        yield from _each("XQuAD", (answer["text"] for qa in questions for answer in qa["answers"]))


def _each(source: str, texts: Iterable[str]) -> Iterator[tuple[str, str]]:
    yield from ((source, text) for text in dict.fromkeys(texts) if text.strip())


@_kept
def maskbench(data: Path) -> Iterator[Check]:
    """Every instance is valid or not as its label says."""
    for path in sorted((data / "jsonschemabench/maskbench/data").glob("*.json")):
        content = json.loads(path.read_text(encoding="utf-8"))
        check_schema(content["schema"])
        for case in content["tests"]:
            found = violations(dumps(content["schema"]), read_strict(json.dumps(case["data"])))
            yield Check("valid" if case["valid"] else "invalid", (not found) == case["valid"], (path.name, found))


_DRAFTS = {
    "draft4": "http://json-schema.org/draft-04/schema#",
    "draft7": "http://json-schema.org/draft-07/schema#",
    "draft2019-09": "https://json-schema.org/draft/2019-09/schema",
    "draft2020-12": "https://json-schema.org/draft/2020-12/schema",
}


@_kept
def schema_suite(data: Path) -> Iterator[Check]:
    """Every test of the JSON-Schema-Test-Suite; the group is `required`, `optional`, or `refused` with its schema."""
    folder = data / "json_schema_test_suite/tests"
    for path in sorted(folder.rglob("*.json")):
        name = path.relative_to(folder)
        for part in json.loads(path.read_text(encoding="utf-8")):
            schema = part["schema"]
            if isinstance(schema, dict):
                schema = {"$schema": _DRAFTS[name.parts[0]], **schema}
            group = "optional" if "optional" in name.parts else "required"
            yield from _schema_group(f"{name}: {part['description']}", group, schema, part["tests"])


def _schema_group(name: str, group: str, schema: Any, tests: list[dict[str, Any]]) -> Iterator[Check]:
    try:
        check_schema(schema)
    except BadSchemaError as error:
        yield from (Check("refused", False, (name, str(error))) for _ in tests)
        return
    for case in tests:
        found = violations(dumps(schema), read_strict(json.dumps(case["data"])))
        yield Check(group, (not found) == case["valid"], (name, case["description"], found))


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


def _golds(data: Path) -> Iterator[tuple[str, str, str]]:
    for path in sorted((data / "mgsm").glob("mgsm_*.tsv")):
        for line in path.read_text(encoding="utf-8").splitlines():
            yield "MGSM", path.stem.removeprefix("mgsm_"), line.split("\t")[1]
    for line in (data / "gsm8k/test.jsonl").read_text(encoding="utf-8").split("\n"):
        if line.strip():
            yield "GSM8K", "en", json.loads(line)["answer"].split("#### ")[1]


@_kept
def numbers(data: Path) -> Iterator[Check]:
    """Every gold number is read back from a sentence in its language's style; the group is the set."""
    for source, language, gold in _golds(data):
        number = read_numbers(gold)[0].value
        group, point = _STYLES.get(language, (",", "."))
        written = f"{number:,}".replace(",", "G").replace(".", point).replace("G", group)
        digits = [written, written.translate(_BENGALI)] if language == "bn" else [written, gold.replace(",", "")]
        for text in digits:
            which = "first" if language == "en" else "last"
            spec = {"kind": "number", "value": gold, "which": which}
            grade = _grade(spec, _SENTENCES[language].format(text), Question(language))
            yield Check(source, grade.status == "pass", (language, gold, text, grade.reason))


_AROUND = {"en": "“{}.”", "de": "„{}“.", "es": "¡{}!", "ru": "«{}».", "ar": "\u200f«{}»؟", "vi": "“{}”."}


@_kept
def answers_in_each_form(data: Path) -> Iterator[Check]:
    """Every gold answer of XQuAD in each form passes `exact`, and is contained in its paragraph."""
    for path in sorted((data / "xquad").glob("xquad.*.json")):
        language = path.stem.removeprefix("xquad.")
        for article in json.loads(path.read_text(encoding="utf-8"))["data"]:
            for paragraph in article["paragraphs"]:
                for answer in (answer["text"] for qa in paragraph["qas"] for answer in qa["answers"]):
                    yield from _forms(answer, language)
                    held = _grade({"kind": "contains", "value": answer}, paragraph["context"], Question(language))
                    yield Check("held by their paragraph", held.status == "pass", (language, answer))


def _forms(answer: str, language: str) -> Iterator[Check]:
    forms = {
        "in NFC": unicodedata.normalize("NFC", answer),
        "in NFD": unicodedata.normalize("NFD", answer),
        "in their language's punctuation": _AROUND[language].format(answer),
    }
    for group, form in forms.items():
        grade = _grade({"kind": "exact", "value": answer}, form, Question(language))
        yield Check(group, grade.status == "pass", (language, answer, form))


_SETTLED = {"Hangul": "ko", "Devanagari": "hi", "Arabic": "ar", "Thai": "th", "Hiragana": "ja", "Greek": "el"}


@_kept
def settled_lines(data: Path) -> Iterator[Check]:
    """Every line of which 80 % of the letters are of a script that settles the language is named right."""
    for line in _written_lines(data):
        counts = count_letters(line)
        script, most = counts.most_common(1)[0] if counts else ("", 0)
        if script in _SETTLED and most >= 15 and most >= 0.8 * counts.total():
            grade = _grade({"kind": "language", "lang": _SETTLED[script]}, line)
            yield Check(_SETTLED[script], grade.status == "pass", (line, grade.reason))


def _written_lines(data: Path) -> Iterator[str]:
    for path in sorted((data / "language_confusion").rglob("*.csv")):
        with path.open(newline="", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                yield from (row.get("completion") or row["prompt"]).split("\n")


@_kept
def answers_in_the_language_asked_for(data: Path) -> Iterator[tuple[str, str, Grade, str]]:
    """Yield model, language asked for, the grade of `language`, and the answer."""
    for path in sorted((data / "language_confusion/outputs").glob("*.csv")):
        with path.open(newline="", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                grade = _grade({"kind": "language", "lang": row["language"]}, row["completion"])
                yield path.stem, row["language"], grade, row["completion"]
