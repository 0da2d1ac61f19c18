"""Every text that people wrote, or a model answered, in the public data: for what must hardly ever be called broken."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from qeval.grading._asked import Asked
from qeval.grading._degenerate import why_degenerate


class Natural(NamedTuple):
    """A text and where it comes from."""

    source: str
    language: str
    text: str


@cache
def natural_texts(data: Path) -> tuple[Natural, ...]:
    """Return all texts of the public data: questions, options, answers, contexts, tools, schemas, completions."""
    readers = (_bench, _xquad, _mgsm, _gsm8k, _bfcl, _schemas, _xstest, _language_confusion)
    return tuple(chain.from_iterable(reader(data) for reader in readers))


@cache
def called_degenerate(data: Path) -> frozenset[Natural]:
    """Return those of the texts that are called degenerate as whole answers, with nothing known of a case."""
    texts = natural_texts(data)
    return frozenset(one for one in texts if why_degenerate(one.text, cut=False, asked=Asked()) is not None)


def _bench(data: Path) -> Iterator[Natural]:
    names = {"arc": "ARC", "mmlu": "MMLU", "csqa": "CommonsenseQA"}
    for bench, items in _json(data / "quant_flips/results/_bench_items.json").items():
        for item in items:
            yield Natural(f"{names[bench]}, questions", "en", item["question"])
            yield from (Natural(f"{names[bench]}, options", "en", text) for text in item["options"].values())


def _xquad(data: Path) -> Iterator[Natural]:
    for path in sorted((data / "xquad").glob("xquad.*.json")):
        language = path.stem.removeprefix("xquad.")
        for paragraph in (part for article in _json(path)["data"] for part in article["paragraphs"]):
            yield Natural("XQuAD, contexts", language, paragraph["context"])
            for asked in paragraph["qas"]:
                yield Natural("XQuAD, questions", language, asked["question"])
                yield from (Natural("XQuAD, answers", language, answer["text"]) for answer in asked["answers"])


def _mgsm(data: Path) -> Iterator[Natural]:
    for path in sorted((data / "mgsm").glob("mgsm_*.tsv")):
        for line in path.read_text(encoding="utf-8").splitlines():
            yield Natural("MGSM, questions", path.stem.removeprefix("mgsm_"), line.split("\t")[0])


def _gsm8k(data: Path) -> Iterator[Natural]:
    for row in _json_lines(data / "gsm8k/test.jsonl"):
        yield Natural("GSM8K, questions", "en", row["question"])
        yield Natural("GSM8K, answers with their steps", "en", row["answer"])


def _bfcl(data: Path) -> Iterator[Natural]:
    for path in sorted((data / "bfcl").glob("*.json")):
        for row in _json_lines(path):
            said = (message["content"] for turn in row["question"] for message in turn)
            yield from (Natural("BFCL, questions", "en", text) for text in said)
            yield Natural("BFCL, tools as JSON", "en", json.dumps(row["function"], indent=1))
    for path in sorted((data / "bfcl/possible_answer").glob("*.json")):
        for row in _json_lines(path):
            yield Natural("BFCL, right calls as JSON", "en", json.dumps(row["ground_truth"]))


def _schemas(data: Path) -> Iterator[Natural]:
    names = {"jsonschemabench": "JSONSchemaBench, files", "json_schema_test_suite": "JSON-Schema-Test-Suite, files"}
    for folder, source in names.items():
        for path in sorted((data / folder).rglob("*.json")):
            yield Natural(source, "en", path.read_text(encoding="utf-8"))


def _xstest(data: Path) -> Iterator[Natural]:
    yield from (
        Natural("XSTest, prompts", "en", row["prompt"]) for row in _csv([data / "xstest_full/xstest_prompts.csv"])
    )
    for path in sorted((data / "xstest_full/model_completions").glob("*.csv")):
        model = path.stem.removeprefix("xstest_v2_completions_")
        yield from (Natural(f"XSTest, completions of {model}", "en", row["completion"]) for row in _csv([path]))


def _language_confusion(data: Path) -> Iterator[Natural]:
    folder = data / "language_confusion"
    for row in _csv(sorted((folder / "test_sets").rglob("*.csv"))):
        yield Natural("Language confusion, prompts", row["language"], row["prompt"])
    for path in sorted((folder / "outputs").glob("*.csv")):
        source = f"Language confusion, completions of {path.stem}"
        yield from (Natural(source, row["language"], row["completion"]) for row in _csv([path]))


def _json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def _json_lines(path: Path) -> Iterator[Any]:
    return (json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line.strip())


def _csv(paths: Iterable[Path]) -> Iterator[dict[str, str]]:
    for path in paths:
        with path.open(newline="", encoding="utf-8") as file:
            yield from csv.DictReader(file)
